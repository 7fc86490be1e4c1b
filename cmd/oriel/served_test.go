package main

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"
)

// inProcess is the service in the test's own process.
type inProcess struct {
	t      *testing.T
	cancel context.CancelFunc
	done   chan struct{}
	err    error

	mu  sync.Mutex
	out bytes.Buffer
}

func (s *inProcess) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.Write(b)
}

func (s *inProcess) output() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.out.String()
}

// serve runs the service here; heard and more are further listeners and settings, change changes its host.
func (f *fixture) serve(change func(*host), more map[string]string) *inProcess {
	f.t.Helper()
	ctx, cancel := context.WithCancel(f.ctx())
	s := &inProcess{t: f.t, cancel: cancel, done: make(chan struct{})}
	h := thisHost("test")
	env := maps.Clone(f.env)
	maps.Copy(env, more)
	h.environ = nil
	for k, v := range env {
		h.environ = append(h.environ, k+"="+v)
	}
	h.stderr = s
	if change != nil {
		change(&h)
	}
	go func() {
		defer close(s.done)
		s.err = run(ctx, h)
	}()
	f.t.Cleanup(func() {
		cancel()
		<-s.done
		if f.t.Failed() {
			f.t.Logf("output of the service:\n%s", tailOf(s.output()))
		}
	})
	return s
}

// running waits until partition 0 is taken over.
func (s *inProcess) running() {
	s.t.Helper()
	end := time.Now().Add(time.Minute)
	for ; !strings.Contains(s.output(), "state=running"); time.Sleep(5 * time.Millisecond) {
		select {
		case <-s.done:
			s.t.Fatalf("the service ended before it worked: %v", s.err)
		default:
		}
		if time.Now().After(end) {
			s.t.Fatal("the service did not start to work within a minute")
		}
	}
}

// stop ends a service that is to end well.
func (s *inProcess) stop() {
	s.t.Helper()
	s.running()
	s.cancel()
	select {
	case <-s.done:
	case <-time.After(time.Minute):
		s.t.Fatal("the service did not end")
	}
	if s.err != nil {
		s.t.Fatalf("the service ended with %v", s.err)
	}
}
