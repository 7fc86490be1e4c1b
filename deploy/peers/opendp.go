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

const (
	opendpVersion = "0.16.0"
	opendpDraws   = 300
)

//go:embed gaussian.py
var script string

// opendp is a Python process that times OpenDP when asked.
type opendp struct {
	cmd     *exec.Cmd
	ask     io.WriteCloser
	answers *bufio.Scanner
}

func startOpenDP(ctx context.Context, python string) (*opendp, error) {
	cmd := exec.CommandContext(ctx, python, "-c", script, strconv.Itoa(1<<scaleLog), strconv.Itoa(opendpDraws))
	cmd.Stderr = os.Stderr
	ask, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	const install = "python3 -m venv venv && venv/bin/pip install opendp==" + opendpVersion + ", then --python venv/bin/python3"
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("%w: run %s", err, install)
	}
	o := &opendp{cmd: cmd, ask: ask, answers: bufio.NewScanner(out)}
	if !o.answers.Scan() || o.answers.Text() != opendpVersion {
		o.stop()
		return nil, fmt.Errorf("%s has opendp %q, want %s: run %s", python, o.answers.Text(), opendpVersion, install)
	}
	return o, nil
}

func (o *opendp) line() *line {
	return &line{name: "OpenDP " + opendpVersion + " integer Gaussian", time: func() (float64, error) {
		if _, err := io.WriteString(o.ask, "\n"); err != nil {
			return 0, err
		}
		if !o.answers.Scan() {
			return 0, io.ErrUnexpectedEOF
		}
		return strconv.ParseFloat(o.answers.Text(), 64)
	}}
}

// stop ends the process, whose loop ends with its input.
func (o *opendp) stop() {
	_ = o.ask.Close()
	_ = o.cmd.Wait()
}
