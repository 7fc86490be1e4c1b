//go:build soak

package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
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
