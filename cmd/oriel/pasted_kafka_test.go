//go:build kafka

package main

import (
	"bufio"
	"context"
	"io"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"oriel/cmd/internal/demo"
	"oriel/cmd/internal/program"
	"oriel/cmd/internal/repotest"
)

// The tests run the commands of the texts as a person would paste them, with kcat and curl, which .ci/run installs. Two
// faults of users are covered: an example printed nothing because kcat had left before the commit, and an example that
// was pasted again overwrote the master key.

// TestExampleTwice runs the worked example of coco's page twice. Both times it must print the first decision, and the
// file of flights must be where the page says.
func TestExampleTwice(t *testing.T) {
	f, s := newFixture(t, 1, nil), newShell(t)
	example := repotest.Block(t, cocoPage, "topics --input-partitions")
	file := repotest.Block(t, cocoPage, "kcat -b localhost:9092 -t trips -P -l")
	port := s.env[3][strings.LastIndex(s.env[3], ":"):]
	own := strings.NewReplacer("localhost:9092", f.Env["ORIEL_BROKERS"], ":9464", port,
		"go build -o oriel ./cmd/oriel && ", "",
		"cmd/oriel/demodata/", mustAbs(t, "demodata")+"/", "/tmp/", s.home+"/")
	names := regexp.MustCompile(`\b(late|trips)\b`)
	adapt := func(text string) string { return names.ReplaceAllString(own.Replace(text), f.Name+".${1}") }
	for i := range 2 {
		said := s.paste(adapt(example))
		if !strings.Contains(said, `"decision":[`) {
			t.Fatalf("paste %d printed no decision: %s", i+1, said)
		}
		// The second time, kcat leaves after the first decision. The service may then be stopped before it orders the second
		// event; the next start consumes that event.
		if n := len(f.Read(f.Name+".late.decisions", 0, false)); n < 1 || n > i+1 {
			t.Errorf("after paste %d: %d decisions", i+1, n)
		}
		if key := strings.Contains(said, "keep a copy"); key != (i == 0) {
			t.Errorf("paste %d made a key: %v", i+1, key)
		}
	}
	before := len(f.Read(f.Name+".trips", 0, false))
	settings := strings.Join(regexp.MustCompile(`(?m)^export .*`).FindAllString(adapt(example), -1), "\n")
	said := s.paste(settings + "\n" + adapt(file))
	if !strings.Contains(said, "163673 events") {
		t.Errorf("eval says %s", said)
	}
	total := -before
	for p := range int32(3) {
		total += len(f.Read(f.Name+".trips", p, false))
	}
	if total < 100_000 {
		t.Errorf("%d flights were sent: %s", total, said)
	}
}

// TestPlansOfThePages runs the examples of operators that end with a plan. Each example must have all settings that a
// plan needs.
func TestPlansOfThePages(t *testing.T) {
	for _, operator := range []string{"arms", "bandit", "linucb", "sets"} {
		_, commands := repotest.Operator(t, operator)
		s := newShell(t)
		said := s.paste(strings.ReplaceAll(commands, "deploy/", mustAbs(t, "../../deploy")+"/"))
		if !strings.Contains(said, "ε = 1") {
			t.Errorf("%s: %s", operator, said)
		}
	}
}

func mustAbs(t *testing.T, path string) string {
	t.Helper()
	abs, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return abs
}

// TestCommandsOfTheDemo checks the commands printed at the end of `oriel demo --keep`: in any directory, they must show
// five decisions and end.
func TestCommandsOfTheDemo(t *testing.T) {
	all, err := readDemoFlights()
	if err != nil {
		t.Fatal(err)
	}
	r, w := io.Pipe()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		bar := func(total int64, what string) demo.Bar { return program.NewBar(io.Discard, total, what, false) }
		err := demo.Run(ctx, w, all[:900], demo.Options{Keep: true, Seed: 1, Bar: bar})
		_ = w.Close()
		ended <- err
	}()
	lines := bufio.NewScanner(r)
	for lines.Scan() && !strings.HasSuffix(lines.Text(), "In another terminal:") {
	}
	var commands []string
	for len(commands) < 2 && lines.Scan() {
		commands = append(commands, strings.TrimSpace(lines.Text()))
	}
	s := newShell(t)
	for _, command := range commands {
		if said := s.paste(command); strings.Count(said, "blt") != 5 {
			t.Errorf("%s printed %s", command, said)
		}
	}
	cancel()
	if err := <-ended; err != nil || len(commands) != 2 {
		t.Errorf("%d commands; %v", len(commands), err)
	}
}
