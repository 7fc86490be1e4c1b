package main

import (
	"bufio"
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
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

	cmd     *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Scanner
}

// start starts the peer's process; stop must end it.
func (p *peer) start(ctx context.Context, python string) error {
	p.cmd = exec.CommandContext(ctx, python, "-c", p.script)
	for _, arg := range p.args {
		p.cmd.Args = append(p.cmd.Args, strconv.Itoa(arg))
	}
	p.cmd.Stderr = os.Stderr
	var err error
	if p.ask, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	const install = "python3 -m venv venv && venv/bin/pip install -r deploy/peers/requirements.txt, then --python venv/bin/python3"
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("%w: run %s", err, install)
	}
	p.answers = bufio.NewScanner(out)
	if !p.answers.Scan() || p.answers.Text() != p.version {
		p.stop()
		return fmt.Errorf("%s has %s %q, want %s: run %s", python, p.library, p.answers.Text(), p.version, install)
	}
	return nil
}

// line returns a line that asks the script to time the named task.
func (p *peer) line(what string) *line {
	return &line{name: p.library + " " + p.version + " " + what, time: func() (float64, error) {
		if _, err := io.WriteString(p.ask, "\n"); err != nil {
			return 0, err
		}
		if !p.answers.Scan() {
			return 0, io.ErrUnexpectedEOF
		}
		return strconv.ParseFloat(p.answers.Text(), 64)
	}}
}

// stop ends the process by closing its input.
func (p *peer) stop() {
	_ = p.ask.Close()
	_ = p.cmd.Wait()
}
