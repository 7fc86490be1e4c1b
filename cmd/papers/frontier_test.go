package main

import (
	"bytes"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oriel/cmd/internal/exit"
)

func TestFrontierCommand(t *testing.T) {
	f := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := root()
		cmd.SetArgs(append([]string{"frontier"}, args...))
		cmd.SetOut(&out)
		err := cmd.Execute()
		return out.String(), err
	}
	plot := filepath.Join(t.TempDir(), "frontier.png")
	out, err := f("--window", "64", "--poles", "2", "--age-weight", "0.45", "--plot", plot)
	if err != nil || !strings.Contains(out, "W = 64, 2 poles") || !strings.Contains(out, "* 0.45") {
		t.Errorf("%v: %s", err, out)
	}
	file, err := os.Open(plot)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := png.Decode(file); err != nil {
		t.Error(err)
	}
	for _, args := range [][]string{{"--window", "0"}, {"--plot", "frontier.pdf"}, {"--age-weight", "2"}} {
		var wrong exit.UsageError
		if out, err := f(args...); !errors.As(err, &wrong) || out != "" {
			t.Errorf("%q: %v, printed %q", args, err, out)
		}
	}
}
