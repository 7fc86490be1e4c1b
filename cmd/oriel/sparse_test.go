package main

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"oriel/operators"
	"oriel/pipeline/kafka"
	"oriel/pipeline/streams"
	"oriel/schemas"
)

// densely is a learner whose operator does not say how decisions print: they are dense.
type densely struct{ streams.Opener }

func (d densely) Operator() operators.Operator {
	return struct{ operators.Operator }{d.Opener.Operator()}
}

// TestSparseDecisionsAreTheDenseOnes: on each golden set, of one stream and one noise, to the bit, and as tail shows
// them.
func TestSparseDecisionsAreTheDenseOnes(t *testing.T) {
	events, err := os.ReadFile("testdata/golden/linear.ndjson")
	if err != nil {
		t.Fatal(err)
	}
	sets := 0
	for _, g := range goldenEvents {
		if name, _, _ := strings.Cut(g.name, "-"); name != "linear" || slices.Contains(g.env, "DECISIONS=sparse") {
			continue
		}
		sets++
		sparse := model(t, load(t, append([]string{
			"OPERATOR=coco", "CLIP=1", "MECHANISM=blt", "EPSILON=8", "DELTA=1e-6", "DECISIONS=sparse",
		}, g.env...)...))
		dense := sparse
		dense.Learner = densely{sparse.Learner}
		o := replayOptions{seed: seedText}
		ours, theirs := replayOf(t, sparse, o, events), replayOf(t, dense, o, events)
		want := bytes.Split(bytes.TrimSpace(theirs), []byte("\n"))
		for i, line := range bytes.Split(bytes.TrimSpace(ours), []byte("\n")) {
			a, errA := schemas.ParseDecision(line)
			b, errB := schemas.ParseDecision(want[i])
			if errA != nil || errB != nil || a.Form != schemas.Sparse || b.Form != schemas.Dense {
				t.Fatalf("%s: %v, %v: %s", g.name, errA, errB, line)
			}
			same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
			if !slices.EqualFunc(a.Point, b.Point, same) || a.Index != b.Index || a.Step != b.Step {
				t.Fatalf("%s: %s\n%s", g.name, line, want[i])
			}
			var ofSparse, ofDense strings.Builder
			if err := show(&ofSparse, line, false); err != nil {
				t.Fatal(err)
			}
			if err := show(&ofDense, want[i], false); err != nil {
				t.Fatal(err)
			}
			if ofSparse.String() != ofDense.String() {
				t.Fatalf("%s: tail shows %s and %s", g.name, ofSparse.String(), ofDense.String())
			}
		}
	}
	if sets < 12 {
		t.Errorf("%d cases", sets)
	}
}

// TestSparseDecisionsAreServed: flows through a grid from one path on, through kills; what was published is what the
// input makes, each is a flow of all from the source, and the audit's twin begins where the service does.
func TestSparseDecisionsAreServed(t *testing.T) {
	f := newFixture(t, 1, nil)
	var edges strings.Builder
	for i := range 5 {
		for j := range 5 {
			if j < 4 {
				fmt.Fprintf(&edges, "%d.%d>%d.%d\n", i, j, i, j+1)
			}
			if i < 4 {
				fmt.Fprintf(&edges, "%d.%d>%d.%d\n", i, j, i+1, j)
			}
		}
	}
	for name, value := range map[string]string{
		"OPERATOR": "coco", "LOSS": "linear", "UPDATE": "llo", "CONSTANTS": "search", "FIRST": "vertex", "SET": "flow",
		"EDGES": write(t, "edges", []byte(edges.String())), "RADIUS": "2", "DIMENSION": "40", "STRONG_CONVEXITY": "0.01",
		"START_REGULARIZER": "10", "MECHANISM": "blt", "WINDOW": "64", "EPSILON": "60", "CLIP": "1", "DECISIONS": "sparse",
	} {
		f.env["ORIEL_"+name] = value
	}
	records := make([]kafka.Record, 320)
	for i := range records {
		text := fmt.Sprintf(`{"cost":{"indices":[%d,%d],"values":[0.9,-0.5]}}`, i%40, (7*i+3)%40)
		if i%50 == 7 {
			text = `{"cost":"` + canary + `"}`
		}
		records[i] = kafka.Record{Key: []byte(canary), Value: []byte(text)}
	}
	decisions, shown := f.servedThroughKills(records)
	for _, r := range decisions {
		d, err := schemas.ParseDecision(r.Value)
		if err != nil || d.Form != schemas.Sparse || len(d.Point) != 40 || math.Abs(d.Point[0]+d.Point[1]-2) > 1e-9 {
			t.Fatalf("%v: %s", err, r.Value)
		}
	}
	if len(decisions) != len(records) || !strings.Contains(shown, " … 40 coordinates]") {
		t.Errorf("%d decisions, tail: %s", len(decisions), tailOf(shown))
	}
}
