package printed

import (
	"flag"
	"os"
	"strings"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/schemas/decision"
)

// inputs are the golden cases of choices that papers print. Cases that differ only in their mechanism are in
// decisiontest.
var inputs = map[string][]string{
	"squared-paper": {
		"LOSS=squared", "UPDATE=llo", "SET=box", "RADIUS=0.5", "DIMENSION=6", "WINDOW=8", "STRONG_CONVEXITY=0.1",
		"CONSTANTS=paper", "ROUNDS=240",
	},
	"plays-printed": {
		"OPERATOR=bandit", "SET=l1-ball", "RADIUS=1", "DIMENSION=2", "BATCH=4", "PLAYS=6", "DELAY=1", "WINDOW=64",
		"ROUNDS=64", "NOISE=paper", "EPSILON=1000",
	},
	"contexts-printed": {
		"OPERATOR=linucb", "PLAYED=logged", "ARMS=no,perhaps,yes", "DIMENSION=4", "WINDOW=256", "ROUNDS=256",
		"EMIT_EVERY=8", "NOISE=paper", "EPSILON=40",
	},
}

const golden = "testdata/decisions.txt"

var rewrite = flag.Bool("rewrite", false, "write "+golden)

// TestGoldenDecisions checks that printed choices give the golden bytes. -rewrite replaces them.
func TestGoldenDecisions(t *testing.T) {
	if *rewrite {
		rewriteGolden(t)
	}
	for name, block := range goldenBlocks(t) {
		if got := block.c.Block(t, decisiontest.Plan(t, block.want), decision.JSON); got != block.want {
			t.Errorf("%s: got\n%swant\n%s", name, got, block.want)
		}
	}
}

func rewriteGolden(t *testing.T) {
	t.Helper()
	content, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for _, block := range goldenBlocks(t) {
		text = strings.Replace(text, block.want, block.c.Block(t, block.plan(t), decision.JSON), 1)
	}
	if err := os.WriteFile(golden, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// goldenBlock is a golden case and its block of decisions.
type goldenBlock struct {
	c    decisiontest.Case
	want string
}

// plan computes the plan of a case anew.
func (b goldenBlock) plan(t *testing.T) []byte {
	t.Helper()
	plan, err := decisiontest.Model(t, b.c.Settings).Learner.Params()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// goldenBlocks returns the golden cases by name.
func goldenBlocks(t *testing.T) map[string]goldenBlock {
	t.Helper()
	env := inputs
	for _, input := range decisiontest.Inputs {
		env[input.Name] = input.Env
	}
	blocks := decisiontest.BlocksOf(t, golden)
	if len(blocks) != 18 {
		t.Errorf("%d blocks", len(blocks))
	}
	cases := map[string]goldenBlock{}
	for name, want := range blocks {
		events, mechanism, _ := strings.Cut(name, " ")
		lines := decisiontest.Env(mechanism, env[events])
		c := decisiontest.Case{Events: events, Mechanism: mechanism, Settings: decisiontest.LoadOf(t, Operators, lines...)}
		cases[name] = goldenBlock{c, want}
	}
	return cases
}
