//go:build peers

package peers

import (
	"bufio"
	_ "embed"
	"io"
	"os"
	"os/exec"
	"strconv"
	"testing"
)

//go:embed gaussian.py
var gaussian string

//go:embed projection.py
var projection string

// peer is a Python process that times a library on request. Its first output line is the library's version.
type peer struct {
	library, version string
	script           string
	args             []int

	t       *testing.T
	ask     io.Writer
	answers *bufio.Scanner
}

// start starts the peer's process, which ends with the test.
func (p *peer) start(t *testing.T) {
	t.Helper()
	p.t = t
	cmd := exec.CommandContext(t.Context(), *python, "-c", p.script)
	for _, arg := range p.args {
		cmd.Args = append(cmd.Args, strconv.Itoa(arg))
	}
	cmd.Stderr = os.Stderr
	ask, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	const install = "python3 -m venv venv && venv/bin/pip install -r deploy/peers/requirements.txt, then --python $PWD/venv/bin/python3"
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: run %s", err, install)
	}
	t.Cleanup(func() { _ = cmd.Wait() })
	p.ask, p.answers = ask, bufio.NewScanner(out)
	if !p.answers.Scan() || p.answers.Text() != p.version {
		t.Fatalf("%s has %s %q, want %s: run %s", *python, p.library, p.answers.Text(), p.version, install)
	}
}

// line returns a line that asks the script to time the named task.
func (p *peer) line(what string) *line {
	name := p.library + " " + p.version + " " + what
	return &line{name: name, time: func() float64 {
		if _, err := io.WriteString(p.ask, "\n"); err != nil {
			p.t.Fatalf("%s: %v", name, err)
		}
		if !p.answers.Scan() {
			p.t.Fatalf("%s: %v", name, io.ErrUnexpectedEOF)
		}
		took, err := strconv.ParseFloat(p.answers.Text(), 64)
		if err != nil {
			p.t.Fatalf("%s: %v", name, err)
		}
		return took
	}}
}
