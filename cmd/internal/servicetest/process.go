package servicetest

import (
	"bytes"
	"context"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"oriel/cmd/internal/program"
)

// Process is a child process that runs a command.
type Process struct {
	t    *testing.T
	Cmd  *exec.Cmd
	Done chan struct{}
	Err  error
	out  Output // standard output and standard error
}

// Output returns what the process has written so far.
func (p *Process) Output() string { return p.out.String() }

// Output collects what a process writes.
type Output struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (o *Output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.Write(b)
}

func (o *Output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.buf.String()
}

// Start runs a command as a child process. more has additional variables for its environment.
func (f *Fixture) Start(more map[string]string, args ...string) *Process {
	f.T.Helper()
	return f.Launch(f.Child(more, args...))
}

// Child returns the command without starting it.
func (f *Fixture) Child(more map[string]string, args ...string) *exec.Cmd {
	cmd := exec.Command(binaryFor(f.T, args), args...)
	cmd.Env = []string{
		"TEST_CHILD=1", "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir(), "HOME=" + os.Getenv("HOME"),
	}
	env := maps.Clone(f.Env)
	maps.Copy(env, more)
	for k, v := range env {
		cmd.Env = append(cmd.Env, k+"="+v)
	}
	return cmd
}

// Launch starts a command. The process is killed when the test ends.
func (f *Fixture) Launch(cmd *exec.Cmd) *Process {
	f.T.Helper()
	p := &Process{t: f.T, Cmd: cmd, Done: make(chan struct{})}
	if testing.CoverMode() != "" { // without a folder for coverage, the child would print a warning when it ends
		p.Cmd.Env = append(p.Cmd.Env, "GOCOVERDIR="+f.T.TempDir())
	}
	p.Cmd.Stdout, p.Cmd.Stderr = &p.out, &p.out
	if err := p.Cmd.Start(); err != nil {
		f.T.Fatal(err)
	}
	go func() {
		p.Err = p.Cmd.Wait()
		close(p.Done)
	}()
	f.T.Cleanup(func() {
		_ = p.Cmd.Process.Kill()
		<-p.Done
		if f.T.Failed() {
			f.T.Logf("output of %s:\n%s", strings.Join(cmd.Args[1:], " "), EndOf(p.Output()))
		}
	})
	return p
}

// EndOf returns the end of a long text.
func EndOf(s string) string {
	const most = 6000
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}

// Finish waits for the child process to end and reports whether it succeeded.
func (p *Process) Finish(within time.Duration) bool {
	p.t.Helper()
	select {
	case <-p.Done:
	case <-time.After(within):
		_ = p.Cmd.Process.Kill()
		p.t.Fatalf("the command did not end within %v", within)
	}
	return p.Err == nil
}

// Must runs a command and checks that it succeeds. It returns all that the command has written.
func (f *Fixture) Must(args ...string) string {
	f.T.Helper()
	if commands == nil && ofService(args) {
		return f.within(args)
	}
	code, said := f.runs(args)
	if code != 0 {
		f.T.Fatalf("oriel %s failed: %s", strings.Join(args, " "), said)
	}
	return said
}

// runs runs a command to its end, inside the test if possible, and returns its exit code and all that it has written.
func (f *Fixture) runs(args []string) (code int, said string) {
	f.T.Helper()
	if Within(args) {
		out := new(Output)
		return f.Run(out, out, args...), out.String()
	}
	p := f.Start(nil, args...)
	p.Finish(time.Minute)
	return p.Cmd.ProcessState.ExitCode(), p.Output()
}

// Within reports whether Run can run the command in these arguments: --env-file changes the environment of a process.
func Within(args []string) bool { return commands != nil && !slices.Contains(args, "--env-file") }

// Run runs a command of oriel inside the test, because most of them take less time than the start of a process. It
// returns the exit code that a process would have. The command reads an empty standard input.
func (f *Fixture) Run(out, problems io.Writer, args ...string) (code int) {
	f.T.Helper()
	cmd := commands()
	cmd.PersistentPreRunE = nil // it concerns a whole process: core dumps, and variables of --env-file
	cmd.SetArgs(args)
	cmd.SetIn(strings.NewReader(""))
	cmd.SetOut(out)
	cmd.SetErr(problems)
	ctx, cancel := context.WithTimeout(program.WithEnviron(f.Ctx(), f.environ()), 5*time.Minute)
	defer cancel()
	return program.Execute(ctx, cmd)
}

// environ returns the fixture's settings in the form of os.Environ.
func (f *Fixture) environ() []string {
	environ := []string{}
	for name, value := range f.Env {
		environ = append(environ, name+"="+value)
	}
	return environ
}

// within runs a service's command in this process.
func (f *Fixture) within(args []string) string {
	f.T.Helper()
	out, h := new(Output), Host()
	h.Stderr, h.Environ = out, f.environ()
	ctx, cancel := context.WithTimeout(f.Ctx(), time.Minute)
	defer cancel()
	if err := serviceCommand(ctx, h, args); err != nil {
		f.T.Fatalf("oriel %s failed: %v: %s", strings.Join(args, " "), err, out)
	}
	return out.String()
}

// Says checks that the process has written these texts.
func (p *Process) Says(texts ...string) {
	p.t.Helper()
	for _, text := range texts {
		if !strings.Contains(p.Output(), text) {
			p.t.Errorf("the log does not say %q", text)
		}
	}
}

// Terminate sends SIGTERM to a service once it handles signals, and checks that the service stops without an error.
func (p *Process) Terminate() {
	p.t.Helper()
	p.endAfter("msg=pages")
}

// End sends SIGTERM to `oriel letters` or `oriel order`, and checks that it stops without an error.
func (p *Process) End() {
	p.t.Helper()
	p.endAfter(`msg="writing `)
}

// endAfter ends the process by SIGTERM once it has written a text.
func (p *Process) endAfter(text string) {
	p.t.Helper()
	for end := time.Now().Add(time.Minute); !strings.Contains(p.Output(), text); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			p.t.Fatal("the process did not start within a minute")
		}
	}
	_ = p.Cmd.Process.Signal(syscall.SIGTERM)
	if !p.Finish(30 * time.Second) {
		p.t.Fatalf("the process ended badly: %v", p.Err)
	}
}

// Fails runs a command and checks that it fails with the wanted text.
func (f *Fixture) Fails(want string, args ...string) {
	f.T.Helper()
	if code, said := f.runs(args); code == 0 || !strings.Contains(said, want) {
		f.T.Errorf("oriel %s: want a failure that says %q; it said: %s", strings.Join(args, " "), want, said)
	}
}
