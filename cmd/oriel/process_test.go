package main

import (
	"bytes"
	"maps"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a child that runs the real command.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	done chan struct{}
	err  error
	out  output // both streams
}

func (p *process) output() string { return p.out.String() }

// output is what a process has written.
type output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// start runs a command as a child; more are further variables.
func (f *fixture) start(more map[string]string, args ...string) *process {
	f.t.Helper()
	return f.launch(f.child(more, args...))
}

// child is the command, not started yet.
func (f *fixture) child(more map[string]string, args ...string) *exec.Cmd {
	cmd := exec.Command(programFor(f.t, args), args...)
	cmd.Env = []string{
		"TEST_CHILD=1", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "HOME=" + os.Getenv("HOME"),
	}
	env := maps.Clone(f.env)
	maps.Copy(env, more)
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	return cmd
}

func (f *fixture) launch(cmd *exec.Cmd) *process {
	f.t.Helper()
	p := &process{t: f.t, cmd: cmd, done: make(chan struct{})}
	if testing.CoverMode() != "" { // else the child ends with a warning
		p.cmd.Env = append(p.cmd.Env, "GOCOVERDIR="+f.t.TempDir())
	}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	if err := p.cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	f.t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.done
		if f.t.Failed() {
			f.t.Logf("output of %s:\n%s", strings.Join(cmd.Args[1:], " "), tailOf(p.output()))
		}
	})
	return p
}

func tailOf(s string) string {
	const most = 6000
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

// finish waits for the child to end and reports whether it succeeded.
func (p *process) finish(within time.Duration) bool {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(within):
		_ = p.cmd.Process.Kill()
		p.t.Fatalf("the command did not end within %v", within)
	}
	return p.err == nil
}

// must runs a command to its successful end.
func (f *fixture) must(args ...string) string {
	f.t.Helper()
	p := f.start(nil, args...)
	if !p.finish(time.Minute) {
		f.t.Fatalf("oriel %s failed: %s", strings.Join(args, " "), p.output())
	}
	return p.output()
}

// says wants texts in what a process has written.
func (p *process) says(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.output(), text) {
			p.t.Errorf("the log does not say %q", text)
		}
	}
}

// terminate asks a service to end, once it is up and hears signals, and checks that it does so well.
func (p *process) terminate() {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(p.output(), "msg=pages"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatal("the service did not start within a minute")
		}
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if !p.finish(30 * time.Second) {
		p.t.Fatalf("the service ended badly: %v", p.err)
	}
}

// end asks `oriel letters` to end, and checks that it does so well.
func (p *process) end() {
	p.t.Helper()
	end := time.Now().Add(time.Minute)
	for ; !strings.Contains(p.output(), "writing letters"); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatal("letters did not start within a minute")
		}
	}
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	if !p.finish(30 * time.Second) {
		p.t.Fatalf("letters ended badly: %v", p.err)
	}
}

// fails runs a command to its bad end and checks what it says.
func (f *fixture) fails(want string, args ...string) {
	f.t.Helper()
	p := f.start(nil, args...)
	if p.finish(time.Minute) || !strings.Contains(p.output(), want) {
		f.t.Errorf("oriel %s: want a failure that says %q; it said: %s", strings.Join(args, " "), want, p.output())
	}
}
