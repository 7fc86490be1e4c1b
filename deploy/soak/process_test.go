//go:build soak

package soak

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"oriel/pipeline/kafka"
)

// process is a child process that can be restarted. The output of all its runs goes to one log.
type process struct {
	name string
	log  string
	env  []string
	args []string

	mu     sync.Mutex
	cmd    *exec.Cmd
	done   chan struct{} // closed when the current or last child ends
	asked  bool          // the caller has announced the child's end
	err    error         // how the last child ended
	peakKB int           // largest resident size in kB of all children
}

func newProcess(name, log string, env []string, args ...string) *process {
	return &process{name: name, log: log, env: env, args: args}
}

// start starts a child, unless one runs.
func (p *process) start() error {
	if p.running() {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	out, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = out.Close() }()
	cmd := exec.Command(p.args[0], p.args[1:]...)
	cmd.Env, cmd.Stdout, cmd.Stderr = p.env, out, out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} // kills the child when the soak ends in any way
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	fmt.Fprintf(out, "--- soak: pid %d starts at %s\n", cmd.Process.Pid, clock(time.Now()))
	done := make(chan struct{})
	p.cmd, p.done, p.asked, p.err = cmd, done, false, nil
	go func() {
		err := cmd.Wait()
		p.mu.Lock()
		defer p.mu.Unlock()
		p.err = err
		close(done)
	}()
	return nil
}

// child returns a channel that is closed when the current or last child ends. It is nil before the first child.
func (p *process) child() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.done
}

func (p *process) running() bool {
	select {
	case <-p.child():
		return false
	default:
		return p.child() != nil
	}
}

// outcome returns how the last child ended, and whether its end was requested.
func (p *process) outcome() (err error, asked bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.err, p.asked
}

// signal signals the running child. A caller that ends the child must announce it BEFORE, so that the end does not
// count as unexpected.
func (p *process) signal(s syscall.Signal) {
	if !p.running() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if s == syscall.SIGKILL || s == syscall.SIGTERM {
		p.asked = true
	}
	_ = p.cmd.Process.Signal(s)
}

// ends waits for the child's end, and reports whether it came within the time.
func (p *process) ends(within time.Duration) bool {
	if p.child() == nil {
		return true
	}
	select {
	case <-p.child():
		return true
	case <-time.After(within):
		return false
	}
}

func (p *process) kill() {
	p.signal(syscall.SIGKILL)
	if p.child() != nil {
		<-p.child()
	}
}

// measure records the child's peak resident size so far.
func (p *process) measure() {
	if !p.running() {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if err != nil {
		return // the child has just ended
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kb, _ := strconv.Atoi(strings.Fields(rest)[0])
			p.peakKB = max(p.peakKB, kb)
		}
	}
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000") }

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
