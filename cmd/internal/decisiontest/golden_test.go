package decisiontest

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/registry"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators/coco"
	"oriel/operators/submodular"
	"oriel/schemas"
)

var rewrite = flag.Bool("rewrite", false, "write testdata/decisions.txt")

// plan computes the plan of a case.
func (c Case) plan(t *testing.T) []byte {
	t.Helper()
	if c.printed() {
		printing := registry.Table{submodular.Definition.ForPapers()} // plans that contain the rates that a paper prints
		c.Settings = LoadOf(t, printing, append(Env(c.Mechanism, c.env()), "RATE=printed")...)
	}
	fresh, err := Model(t, c.Settings).Learner.Params()
	if err != nil {
		t.Fatal(err)
	}
	fresh[3] &^= 0x80 // clears the bit for times, because decisions of the file have none
	if version := c.earlier(); version > 0 {
		private := 4 + binary.LittleEndian.Uint32(fresh)
		_, arms, some := bytes.Cut(fresh[private+2:], []byte("\n")) // the names of the arms follow the version and the norm
		if some {
			arms = append([]byte("\n"), arms...)
		}
		return slices.Concat(fresh[:private], []byte{version}, arms)
	}
	if c.beforeTangents() {
		return planBeforeTangents(fresh)
	}
	if version := c.newest(); version > 0 {
		fresh[4+binary.LittleEndian.Uint32(fresh)] = version
	}
	if c.unanchored() {
		fresh[4+binary.LittleEndian.Uint32(fresh)] = 6
	}
	if c.steady() {
		return fresh
	}
	if c.aggregates() {
		version := &fresh[4+binary.LittleEndian.Uint32(fresh)]
		switch {
		case strings.HasSuffix(c.Events, "-filter"): // -filter cases keep the newest plan
		case strings.HasSuffix(c.Events, "-shown"):
			*version = 4
		case strings.HasSuffix(c.Events, "-ranks"):
			*version = 3
		case c.sharp():
			*version = 2
		default:
			*version = 1
		}
		return fresh
	}
	learner, err := c.Settings.Learner()
	if err != nil {
		t.Fatal(err)
	}
	m, operator := learner.Mechanism(), learner.Operator()
	clipped := m
	clipped.Contribution = contribution.OneComponent(m.Dimension(), operator.Describe(m).Clip)
	private, err := mechanisms.Calibrate(clipped)
	if err != nil {
		t.Fatal(err)
	}
	first, errFirst := private.AppendBinary(nil)
	public, errPublic := operator.Params(clipped)
	if !strings.HasSuffix(c.Events, "-means") {
		public = earlier(t, public, c.projectsPart())
	}
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

// earlier returns the plan of coco in an earlier form. Before version 5, searched steps follow the newest sums. Before
// version 4, contributions are also projected only on the part of tangent spaces that was known then.
func earlier(t *testing.T, public []byte, part bool) []byte {
	t.Helper()
	p, err := coco.ParseParams(public)
	if err != nil {
		t.Fatal(err)
	}
	p.Means = false
	p.FullTangent = p.FullTangent && !part
	if public, err = p.AppendBinary(nil); err != nil {
		t.Fatal(err)
	}
	return public
}

// planBeforeTangents returns a plan of bandit in its earlier form: the first version with centres, reach and episodes.
func planBeforeTangents(fresh []byte) []byte {
	const number = 8
	at := 4 + binary.LittleEndian.Uint32(fresh)
	head, public := fresh[:at:at], fresh[at:]
	centres, reach, episodes := public[1+number:][:number], public[1+2*number:][:number], public[1+3*number:]
	one := binary.LittleEndian.AppendUint64(nil, math.Float64bits(1))
	switch {
	case !bytes.Equal(centres, one):
		return slices.Concat(head, []byte{3}, centres, reach, episodes)
	case !bytes.Equal(reach, one) || len(episodes) > 3*number:
		return slices.Concat(head, []byte{2}, reach, episodes)
	}
	return slices.Concat(head, []byte{1}, episodes)
}

// env returns the settings of the case's input.
func (c Case) env() []string {
	for _, input := range Inputs {
		if input.Name == c.Events {
			return input.Env
		}
	}
	return nil
}

// TestGoldenDecisions checks that every build on every CPU writes the golden bytes. -rewrite replaces them, which would
// fork every deployment; therefore formats must be changed only by adding a version.
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
		got := c.Block(t, Plan(t, want), schemas.JSON)
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
		for _, encoding := range []schemas.Encoding{schemas.Protobuf, schemas.Avro} {
			if tiertest.Runs(i%8 != int(encoding), false) {
				continue
			}
			want := blocks[c.String()]
			if c.Block(t, Plan(t, want), encoding) != want {
				t.Errorf("%v: in %s it says something else", c, schemas.Encodings[encoding])
			}
		}
	}
}

func rewriteGolden(t *testing.T) {
	t.Helper()
	var blocks []string
	for _, c := range Cases(t) {
		blocks = append(blocks, c.Block(t, c.plan(t), schemas.JSON))
	}
	if err := os.WriteFile(Path(golden), []byte(strings.Join(blocks, "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}
