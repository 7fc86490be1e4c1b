package tail

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/decisiontest"
	"oriel/cmd/internal/replay"
	"oriel/cmd/internal/servicetest"
	"oriel/schemas/decision"
)

// TestTailReadsEveryEncoding checks that decisions in every encoding give the same table and, with --raw, the same
// JSON.
func TestTailReadsEveryEncoding(t *testing.T) {
	extras := []decision.Extra{{Name: "arm", Kind: decision.ExtraText}, {Name: "width", Kind: decision.ExtraNumber}}
	values := []decision.ExtraValue{{Text: "north"}, {Number: 0.25}}
	var want [2]string
	for encoding := range decision.Encodings {
		config := decision.Config{
			Stream: "0", Mechanism: "blt", Adjacency: "replace", Unit: "event", Encoding: decision.Encoding(encoding),
		}
		record := decision.NewEncoder(config, extras).Append(nil, 7, 7, []float64{1, 0.5}, values)
		for raw, printed := range want {
			var out strings.Builder
			if err := Show(&out, record, raw == 1); err != nil {
				t.Fatal(err)
			}
			if encoding == 0 {
				want[raw] = out.String()
			} else if out.String() != printed {
				t.Errorf("%s: %s, want %s", decision.Encodings[encoding], out.String(), printed)
			}
		}
	}
	if !strings.Contains(want[0], "[1 0.5]  arm=\"north\"  width=0.25\n") || !strings.HasPrefix(want[1], `{"stream":"0",`) {
		t.Errorf("%s%s", want[0], want[1])
	}
}

// TestTailShowsExtraMembers checks that tail shows an operator's members, and members that a newer version adds.
func TestTailShowsExtraMembers(t *testing.T) {
	config := decision.Config{Stream: "0", Mechanism: "blt", Adjacency: "replace", Unit: "event"}
	extras := []decision.Extra{{Name: "arm", Kind: decision.ExtraText}, {Name: "scores", Kind: decision.ExtraNumbers}}
	encoder := decision.NewEncoder(config, extras)
	line := encoder.Append(nil, 1, 1, []float64{1},
		[]decision.ExtraValue{{Text: "north\u009b31m"}, {Numbers: make([]float64, 99)}})
	var out strings.Builder
	if err := Show(&out, line, false); err != nil {
		t.Fatal(err)
	}
	want := "  [1]  arm=\"north\uFFFD31m\"  scores=[" + strings.Repeat("0,", 29) + "0…\n"
	if !strings.HasSuffix(out.String(), want) {
		t.Errorf("%q does not end in %q", out.String(), want)
	}
}

// TestTailShowsZeroWithoutASign checks decisions in Protobuf and Avro, whose zeros may have a sign.
func TestTailShowsZeroWithoutASign(t *testing.T) {
	for encoding := range decision.Encodings {
		config := decision.Config{
			Stream: "0", Mechanism: "blt", Adjacency: "replace", Unit: "event", Encoding: decision.Encoding(encoding),
		}
		var out strings.Builder
		record := decision.NewEncoder(config, nil).Append(nil, 7, 7, []float64{math.Copysign(0, -1), -0.5, 0}, nil)
		if err := Show(&out, record, false); err != nil || !strings.Contains(out.String(), "[0 -0.5 0]") {
			t.Errorf("%s: %v: %s", decision.Encodings[encoding], err, out.String())
		}
	}
}

// TestTailMarksUnknownNumbers checks that a dash replaces each number, and each difference, that is little more than
// noise, wherever its member is.
func TestTailMarksUnknownNumbers(t *testing.T) {
	config := decision.Config{Stream: "0", Mechanism: "blt", Adjacency: "replace", Unit: "event"}
	encoder := decision.NewEncoder(config, []decision.Extra{{Name: "shown", Kind: decision.ExtraNumbers}})
	var out strings.Builder
	line := encoder.Append(nil, 1, 1, []float64{60, 7, 60}, []decision.ExtraValue{{Numbers: []float64{0, 1, 0, 1}}})
	if err := Show(&out, line, false); err != nil || !strings.Contains(out.String(), "  [– 7 –]  ") {
		t.Errorf("%q: %v", out.String(), err)
	}
	encoder = decision.NewEncoder(config, []decision.Extra{
		{Name: "count_deviation", Kind: decision.ExtraNumbers},
		{Name: "mean_difference", Kind: decision.ExtraNumbers},
		{Name: "mean_difference_low", Kind: decision.ExtraNumbers},
		{Name: "share_difference", Kind: decision.ExtraNumbers},
		{Name: "shown", Kind: decision.ExtraNumbers},
	})
	differences := []decision.ExtraValue{
		{Numbers: []float64{3, 4}},
		{Numbers: []float64{1, 0, 2, 3}},
		{Numbers: []float64{-5, -5, -5, -5}},
		{Numbers: []float64{0.1, 0.2, 0, 0.4}},
		{Numbers: []float64{1, 1, 1, 0, 1, 1, 0, 1, 1, 1}},
	}
	out.Reset()
	if err := Show(&out, encoder.Append(nil, 1, 1, []float64{60, 7}, differences), false); err != nil ||
		!strings.Contains(out.String(), "mean_difference=[1,–,–,3]  mean_difference_low=[-5,-5,-5,-5]  share_difference=[0.1,0.2,0,0.4]") {
		t.Errorf("%q: %v", out.String(), err)
	}
}

// TestSparseDecisionsAreTheDenseOnes compares sparse with dense decisions on each golden set, with the same stream and
// noise. They must agree to the bit, and tail must show them in the same way.
func TestSparseDecisionsAreTheDenseOnes(t *testing.T) {
	events := decisiontest.Lines(t, "linear")
	sets := 0
	for _, g := range decisiontest.Inputs {
		if name, _, _ := strings.Cut(g.Name, "-"); name != "linear" || slices.Contains(g.Env, "DECISIONS=sparse") {
			continue
		}
		sets++
		sparse := decisiontest.Model(t, decisiontest.Load(t, append([]string{
			"OPERATOR=coco", "CLIP=1", "MECHANISM=blt", "EPSILON=8", "DELTA=1e-6", "DECISIONS=sparse",
		}, g.Env...)...))
		dense := sparse
		dense.Learner = decisiontest.Densely(sparse.Learner)
		o := replay.Options{Seed: servicetest.Seed}
		ours, theirs := decisiontest.Replay(t, sparse, o, events), decisiontest.Replay(t, dense, o, events)
		want := bytes.Split(bytes.TrimSpace(theirs), []byte("\n"))
		for i, line := range bytes.Split(bytes.TrimSpace(ours), []byte("\n")) {
			a, errA := decision.Parse(line)
			b, errB := decision.Parse(want[i])
			if errA != nil || errB != nil || a.Form != decision.Sparse || b.Form != decision.Dense {
				t.Fatalf("%s: %v, %v: %s", g.Name, errA, errB, line)
			}
			same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
			if !slices.EqualFunc(a.Point, b.Point, same) || a.Index != b.Index || a.Step != b.Step {
				t.Fatalf("%s: %s\n%s", g.Name, line, want[i])
			}
			var ofSparse, ofDense strings.Builder
			if err := Show(&ofSparse, line, false); err != nil {
				t.Fatal(err)
			}
			if err := Show(&ofDense, want[i], false); err != nil {
				t.Fatal(err)
			}
			if ofSparse.String() != ofDense.String() {
				t.Fatalf("%s: tail shows %s and %s", g.Name, ofSparse.String(), ofDense.String())
			}
		}
	}
	if sets < 12 {
		t.Errorf("%d cases", sets)
	}
}
