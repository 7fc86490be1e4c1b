//go:build soak

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"oriel/pipeline/kafka"
)

// shell returns a slot whose process runs a shell script; $0 is a path for the script's own use.
func shell(t *testing.T, script string) *slot {
	t.Helper()
	dir := t.TempDir()
	s := &slot{dir: dir, process: newProcess("script", filepath.Join(dir, "log"), os.Environ(), "sh", "-c", script,
		filepath.Join(dir, "file"))}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	return s
}

// violations collects violations.
type violations struct {
	mu    sync.Mutex
	texts []string
}

func (v *violations) violation(format string, arguments ...any) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.texts = append(v.texts, fmt.Sprintf(format, arguments...))
}

func (v *violations) wants(t *testing.T, texts ...string) {
	t.Helper()
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.texts) != len(texts) {
		t.Fatalf("told of %q, want %q", v.texts, texts)
	}
	for i, want := range texts {
		if !strings.Contains(v.texts[i], want) {
			t.Errorf("told of %q, want %q", v.texts[i], want)
		}
	}
}

func TestAProcessThatEndsByItselfIsReportedAndRestarted(t *testing.T) {
	s := shell(t, `test -e "$0" && sleep 60; : > "$0"; exit 3`)
	ctx, cancel := context.WithCancel(t.Context())
	var v violations
	var done sync.WaitGroup
	done.Go(func() { s.supervise(ctx, v.violation) })
	<-s.child()
	for end := time.Now().Add(10 * time.Second); !s.running() && time.Now().Before(end); {
		_ = kafka.Pause(ctx, 10*time.Millisecond)
	}
	s.signal(syscall.SIGKILL) // an end that was announced is no violation
	cancel()
	done.Wait()
	v.wants(t, "exit status 3")
}

func TestEndWithAnErrorIsReported(t *testing.T) {
	for script, want := range map[string][]string{
		`trap 'exit 0' TERM; echo up; while :; do sleep 0.01; done`: nil,
		`trap 'exit 1' TERM; echo up; while :; do sleep 0.01; done`: {"exit status 1"},
	} {
		s := shell(t, script)
		for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if log, _ := os.ReadFile(s.log); strings.Contains(string(log), "up\n") {
				break // the child has installed its signal handler
			}
		}
		var v violations
		s.terminate(v.violation)
		v.wants(t, want...)
	}
}

func TestAStoppedPartitionIsReported(t *testing.T) {
	s := shell(t, `echo 'level=INFO msg=task'; echo 'level=ERROR msg=stopped partition=1'`)
	s.ends(10 * time.Second)
	var v violations
	if err := s.complaints(v.violation); err != nil {
		t.Fatal(err)
	}
	v.wants(t, "msg=stopped partition=1")
}
