package decisiontest

import (
	"flag"
	"os"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/decision"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/decisions.txt")

// plan computes the plan of a case, as a deployment that is opened now does.
func (c Case) plan(t *testing.T) []byte {
	t.Helper()
	plan, err := Model(t, c.Settings).Learner.Params()
	if err != nil {
		t.Fatal(err)
	}
	return plan
}

// TestGoldenDecisions checks that every build on every CPU writes the golden bytes. -rewrite replaces them. Until the
// first release a change may do so on purpose, and must say so; deploy/CHANGES.md has the rules from then on.
func TestGoldenDecisions(t *testing.T) {
	if *rewrite {
		rewriteGolden(t)
	}
	blocks := Blocks(t)
	cases := Cases(t)
	if len(blocks) != len(cases) {
		t.Errorf("%d blocks for %d cases", len(blocks), len(cases))
	}
	for _, c := range cases {
		want, ok := blocks[c.String()]
		if !ok {
			t.Errorf("%v: no block", c)
			continue
		}
		got := c.Block(t, Plan(t, want), decision.JSON)
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

// TestGoldenDecisionsInEveryEncoding checks that a decision in any encoding, printed as JSON, is the golden decision.
func TestGoldenDecisionsInEveryEncoding(t *testing.T) {
	blocks := Blocks(t)
	for i, c := range Cases(t) {
		for _, encoding := range []decision.Encoding{decision.Protobuf, decision.Avro} {
			if tiertest.Runs(i%8 != int(encoding), false) {
				continue
			}
			want := blocks[c.String()]
			if c.Block(t, Plan(t, want), encoding) != want {
				t.Errorf("%v: in %s it says something else", c, decision.Encodings[encoding])
			}
		}
	}
}

func rewriteGolden(t *testing.T) {
	t.Helper()
	var blocks []string
	for _, c := range Cases(t) {
		blocks = append(blocks, c.Block(t, c.plan(t), decision.JSON))
	}
	if err := os.WriteFile(Path(golden), []byte(strings.Join(blocks, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
