package service_test

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
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

// serve runs the service in this process. change modifies its Host, and more has additional settings.
func (f *fixture) serve(change func(*service.Host), more map[string]string) *inProcess {
	f.T.Helper()
	ctx, cancel := context.WithCancel(f.Ctx())
	s := &inProcess{t: f.T, cancel: cancel, done: make(chan struct{})}
	h := servicetest.Host()
	env := maps.Clone(f.Env)
	maps.Copy(env, more)
	h.Environ = nil
	for k, v := range env {
		h.Environ = append(h.Environ, k+"="+v)
	}
	h.Stderr = s
	if change != nil {
		change(&h)
	}
	go func() {
		defer close(s.done)
		s.err = service.Run(ctx, h)
	}()
	f.T.Cleanup(func() {
		cancel()
		<-s.done
		if f.T.Failed() {
			f.T.Logf("output of the service:\n%s", servicetest.EndOf(s.output()))
		}
	})
	return s
}

// running waits until the service has taken over partition 0.
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

// stop stops a service, and checks that it ends without an error.
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
