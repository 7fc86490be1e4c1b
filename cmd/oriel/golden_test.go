package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/pipeline/streams"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/golden/decisions.txt, and what schemas publishes")

const goldenFile = "testdata/golden/decisions.txt"

// plan computes the plan of a case.
func (c goldenCase) plan(t *testing.T) []byte {
	t.Helper()
	fresh, err := model(t, c.settings).Learner.Params()
	if err != nil {
		t.Fatal(err)
	}
	if c.unmarked() {
		fresh[4+binary.LittleEndian.Uint32(fresh)] = '1'
		return fresh
	}
	if c.steady() {
		return fresh
	}
	if c.aggregates() {
		version := &fresh[4+binary.LittleEndian.Uint32(fresh)]
		switch {
		case strings.HasSuffix(c.events, "-shown"): // the newest
		case strings.HasSuffix(c.events, "-ranks"):
			*version = 3
		case c.sharp():
			*version = 2
		default:
			*version = 1
		}
		return fresh
	}
	learner, err := c.settings.Learner()
	if err != nil {
		t.Fatal(err)
	}
	m, operator := learner.Mechanism(), learner.Operator()
	clipped := m
	clipped.Contribution = mechanisms.OneComponent(m.Dimension(), operator.Describe(m).Clip)
	private, err := mechanisms.Calibrate(clipped)
	if err != nil {
		t.Fatal(err)
	}
	first, errFirst := private.AppendBinary(nil)
	public, errPublic := operator.Params(clipped)
	if err := errors.Join(errFirst, errPublic); err != nil {
		t.Fatal(err)
	}
	old := append(append(binary.LittleEndian.AppendUint32(nil, uint32(len(first))), first...), public...)
	if !c.sharp() {
		return old
	}
	if bytes.Equal(old, fresh) {
		t.Errorf("%v: a new plan has the ball of the clip", c)
	}
	return fresh
}

// goldenCase is a file of events under a mechanism.
type goldenCase struct {
	events, mechanism string
	settings          settings.Settings
}

func (c goldenCase) String() string { return c.events + " " + c.mechanism }

func goldenCases(t *testing.T) (cases []goldenCase) {
	t.Helper()
	for _, events := range goldenEvents {
		for _, mechanism := range append(mechanisms.Names(), mechanisms.ExponentialMechanism) {
			if events.name == "squared-paper" && (mechanism == "tree-laplace" || mechanism == "blt") {
				continue // the paper has no constants for it
			}
			only := onlyUnder[events.name]
			if only != "" && mechanism != only {
				continue
			}
			if only == "" && (mechanism == mechanisms.ExponentialMechanism ||
				strings.HasPrefix(mechanism, "once-") != (events.name == "logistic-ogd")) {
				continue // draws are for rules that draw, single steps for ogd alone
			}
			if strings.HasSuffix(events.name, "-leaves") && strings.HasSuffix(mechanism, "-paper") {
				continue // has one rule for leaves
			}
			cases = append(cases, goldenCase{events.name, mechanism, load(t, goldenEnv(mechanism, events.env)...)})
		}
	}
	return cases
}

// load gives the settings of a replay; env is without the prefix.
func load(t *testing.T, env ...string) settings.Settings {
	t.Helper()
	var environ []string
	for _, line := range env {
		environ = append(environ, "ORIEL_"+line)
	}
	s, err := settings.Load(environ, settings.Events, settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func model(t *testing.T, s settings.Settings) streams.Model {
	t.Helper()
	m, err := s.Model()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// replayOf gives the decisions as `oriel replay --events` writes them.
func replayOf(t *testing.T, m streams.Model, o replayOptions, events []byte) []byte {
	t.Helper()
	stream, err := openReplay(m, o)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if _, err := replayLines(t.Context(), &out, bytes.NewReader(events), m, stream, m.Events.MaxBytes, o); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// block is what goldenFile holds of a case: its plan, frozen, the digest of all decisions, and some of them to look at.
func (c goldenCase) block(t *testing.T, plan []byte) string {
	t.Helper()
	m := model(t, c.settings)
	m.Learner = frozen{m.Learner, plan}
	name, _, _ := strings.Cut(c.events, "-")
	events, err := os.ReadFile(filepath.Join("testdata/golden", name+".ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	o := replayOptions{seed: strings.Repeat("5eed", 16), partition: 3}
	if c.settings.UserID != "" {
		o.separator, events = "|", byTurns(events)
	}
	if c.plays() {
		o.separator = "|"
	}
	out := replayOf(t, m, o, events)
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	text := fmt.Sprintf("%v\nplan %x\nsha256 %x, %d decisions\n", c, plan, sha256.Sum256(out), len(lines))
	for _, i := range []int{0, 1, len(lines) / 2, len(lines) - 1} {
		text += lines[i] + "\n"
	}
	return text
}

// byTurns gives the lines to seven users, in turns, some of whom come again too soon.
func byTurns(events []byte) []byte {
	var keyed []byte
	for i, line := range bytes.SplitAfter(events, []byte("\n")) {
		if len(line) > 0 {
			keyed = append(fmt.Appendf(keyed, "user %d|", (i-i%5/4)%7), line...)
		}
	}
	return keyed
}

// goldenBlocks reads goldenFile: the blocks by case.
func goldenBlocks(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	blocks := map[string]string{}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		block = strings.TrimSuffix(block, "\n") + "\n"
		name, _, _ := strings.Cut(block, "\n")
		blocks[name] = block
	}
	return blocks
}

// goldenPlan takes the plan out of a block. A plan is calibrated by functions that may differ in the last bit between
// platforms, and so it is data here as it is in an incarnation.
func goldenPlan(t *testing.T, block string) []byte {
	t.Helper()
	_, rest, _ := strings.Cut(block, "\nplan ")
	text, _, _ := strings.Cut(rest, "\n")
	plan, err := hex.DecodeString(text)
	if err != nil || len(plan) == 0 {
		t.Fatalf("%s: no plan in the block: %q", goldenFile, block)
	}
	return plan
}

// TestGoldenDecisions: every build on every CPU writes these bytes. -rewrite replaces them, which forks every
// deployment: formats are changed by adding a version.
func TestGoldenDecisions(t *testing.T) {
	if *rewrite {
		rewriteGolden(t)
	}
	blocks := goldenBlocks(t)
	cases := goldenCases(t)
	if len(blocks) != len(cases) {
		t.Errorf("%d blocks for %d cases", len(blocks), len(cases))
	}
	for _, c := range cases {
		want, ok := blocks[c.String()]
		if !ok {
			t.Errorf("%v: no block", c)
			continue
		}
		got := c.block(t, goldenPlan(t, want))
		if got == want {
			continue
		}
		wanted := strings.Split(want, "\n")
		for i, line := range strings.Split(got, "\n") {
			if i >= len(wanted) || line != wanted[i] {
				t.Errorf("%v: line %d of the block:\n got %s\nwant %s", c, i+1, line, strings.Join(wanted[min(i, len(wanted)):min(i+1, len(wanted))], ""))
			}
		}
	}
}

func rewriteGolden(t *testing.T) {
	t.Helper()
	var blocks []string
	for _, c := range goldenCases(t) {
		blocks = append(blocks, c.block(t, c.plan(t)))
	}
	if err := os.WriteFile(goldenFile, []byte(strings.Join(blocks, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
