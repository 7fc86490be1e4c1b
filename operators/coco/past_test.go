package coco

import (
	"bytes"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// after returns the params of a stream that starts at a published decision, parsed from its stored form.
func after(t testing.TB, c Config, m mechanisms.Config, last operators.Decision) Params {
	t.Helper()
	c.StartPoint = &last
	stored, err := operator{Config: c}.Params(m)
	if err != nil {
		t.Fatal(err)
	}
	p, err := ParseParams(stored)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestALifeAfterABreakGoesOnWhereTheFirstEnded checks a stream that continues an earlier one, without noise and in a
// set where nothing is projected. A decision then determines its sums. So the continuation must make the decisions that
// the earlier stream would have made.
func TestALifeAfterABreakGoesOnWhereTheFirstEnded(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 9))
	c := sample(t, "l2-ball", 3)
	c.Set = mustSet(t, "l2-ball", 3, 1e6)
	c.StartRegularizer = 2
	for _, batch := range []uint64{1, 3} {
		m := remembering(c, 8, batch)
		whole := quiet(t, c, m)
		countedWhole := operators.ByCount(whole)
		parts := []*operators.Counted{operators.ByCount(quiet(t, c, m))}
		var last operators.Decision
		for i := range 60 * int(batch) {
			if i == 20*int(batch) {
				p := after(t, c, m, last)
				part, err := build(c, p, mechtest.Planted(t, m, mechtest.Plan(t, m), mechtest.Zero{}), 0)
				if err != nil {
					t.Fatal(err)
				}
				if x := part.update.point(); !floats.EqualApprox(x, last.Point, 1e-12) {
					t.Fatalf("starts at %v, the last decision was %v", x, last.Point)
				}
				parts = append(parts, operators.ByCount(part))
			}
			r := record(i, linear(direction(rng, 3, 0.9*rng.Float64())))
			one, other := countedWhole.Add(nil, r), parts[len(parts)-1].Add(nil, r)
			if len(one) != len(other) {
				t.Fatalf("record %d: %d decisions, and %d after a break", i, len(one), len(other))
			}
			if len(one) == 0 {
				continue
			}
			if !floats.EqualApprox(one[0].Point, other[0].Point, 1e-9*floats.Norm(one[0].Point, 2)) {
				t.Fatalf("B = %d, step %d: %v after a break, %v without", batch, one[0].Step, other[0].Point, one[0].Point)
			}
			last = operators.Decision{Step: other[0].Step, Point: append([]float64(nil), other[0].Point...)}
		}
	}
}

// TestASearchedLifeGoesOnAfterABreak checks that searched steps continue at the last decision of an earlier stream. The
// start must equal that decision on sets with a projection or a cheap test of membership, be close to it on others, and
// be in the set on all. The reference model of an audit must start at the same point.
func TestASearchedLifeGoesOnAfterABreak(t *testing.T) {
	for _, set := range []string{
		"l1-ball", "simplex", "box", "subsets", "partition", "flow", "matching", "vertices", "trees", "ranking",
		"spectrahedron", "trace-norm", "subsets-at-most", "partition-at-most", "forests",
	} {
		rng := rand.New(rand.NewPCG(5, 10))
		c := sample(t, set, 4)
		c.Update, c.Constants = LLO, Search
		m := remembering(c, 8, 1)
		whole, drift := quiet(t, c, m), direction(rng, 4, 0.5)
		countedWhole := operators.ByCount(whole)
		var last operators.Decision
		cost := func(i int) operators.Record {
			v := direction(rng, 4, 0.1)
			floats.Add(v, drift)
			return record(i, linear(v))
		}
		for i := range 60 {
			last = countedWhole.Add(nil, cost(i))[0]
		}
		last.Point = append([]float64(nil), last.Point...)
		p := after(t, c, m, last)
		part, err := build(c, p, mechtest.Planted(t, m, mechtest.Plan(t, m), mechtest.Zero{}), 0)
		if err != nil {
			t.Fatal(err)
		}
		countedPart := operators.ByCount(part)
		near := 1e-12
		switch set {
		case "l1-ball", "vertices", "trees", "trace-norm", "forests":
			near = 0.05 * c.Set.Diameter()
		}
		x := append([]float64(nil), part.update.point()...)
		if off := floats.Distance(x, last.Point, 2); off > near {
			t.Errorf("%s: starts at %v, %g from the last decision %v", set, x, off, last.Point)
		}
		stored, err := p.AppendBinary(nil)
		if err != nil {
			t.Fatal(err)
		}
		played, err := operator{Config: c, terms: m.Terms}.ReferenceModel(stored)
		if err != nil {
			t.Fatal(err)
		}
		played.Begin()
		if y := played.(*reference).decision; !floats.Equal(x, y) {
			t.Errorf("%s: the machine starts at %v, the reference model at %v", set, x, y)
		}
		for i := range 20 {
			r := cost(100 + i)
			from, to := countedWhole.Add(nil, r)[0].Point, countedPart.Add(nil, r)[0].Point
			if off := floats.Distance(from, to, 2); off > 0.2*c.Set.Diameter() {
				t.Fatalf("%s, step %d: %v without a break, %v after one", set, i, from, to)
			}
		}
	}
}

// TestThePastIsForgotten checks that the start fades with noise, too: after 50 memories, streams that continue after
// two different decisions make equal decisions.
func TestThePastIsForgotten(t *testing.T) {
	c := sample(t, "l2-ball", 2)
	m := remembering(c, 8, 1)
	plan := mechtest.Plan(t, m)
	var ends [2][]float64
	for i, x := range []float64{-0.9, 0.9} {
		stream, err := mechanisms.Open(m, plan, [32]byte{4})
		if err != nil {
			t.Fatal(err)
		}
		machine, err := New(c, after(t, c, m, operators.Decision{Step: 50, Point: []float64{x, 0}}), stream)
		if err != nil {
			t.Fatal(err)
		}
		counted := operators.ByCount(machine)
		for k := range 400 {
			ends[i] = counted.Add(nil, record(k, linear([]float64{0.1, 0.2})))[0].Point
		}
	}
	if !floats.EqualApprox(ends[0], ends[1], 1e-12) {
		t.Errorf("two pasts end at %v and %v", ends[0], ends[1])
	}
}

func TestAPastThatDoesNotFitIsRefused(t *testing.T) {
	c := sample(t, "l2-ball", 2)
	m := remembering(c, 8, 1)
	far := after(t, c, m, operators.Decision{Step: 3, Point: []float64{30, 40}}) // this decision is from a larger set
	if !floats.EqualApprox(far.Past.Point, []float64{0.6, 0.8}, 1e-12) {
		t.Errorf("starts at %v", far.Past.Point)
	}
	for _, past := range []Inherited{{Point: []float64{1}, Weight: 1}, {Point: []float64{1, 0, 0}, Weight: 1}} {
		if _, err := New(c, Params{Past: past}, mechtest.Open(t, m, [32]byte{1})); err == nil {
			t.Errorf("%+v fits", past)
		}
	}
	window := mechanism(c, 8, 1)
	past := Params{Past: Inherited{Point: []float64{1, 0}, Weight: 1}}
	if _, err := New(c, past, mechtest.Open(t, window, [32]byte{1})); err == nil ||
		!strings.Contains(err.Error(), "only a stream with a memory") {
		t.Errorf("a past of a window: %v", err)
	}
}

func TestParamsBytesOfAPast(t *testing.T) {
	golden := []byte{
		1, // version
		// the zero fields of ruleClip
		0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 0, // no band
		0, 0, 0, 0, 0, 0, 0xf8, 0x3f, // the weight N = 1.5
		0, 0, 0, 0, 0, 0, 0xe0, 0xbf, 0, 0, 0, 0, 0, 0, 0, 0x40, // the point (−0.5, 2)
	}
	p := Params{Past: Inherited{Point: []float64{-0.5, 2}, Weight: 1.5}}
	if stored, err := p.AppendBinary(nil); err != nil || !bytes.Equal(stored, golden) {
		t.Fatalf("stored as %v, %v", stored, err)
	}
	if got, err := ParseParams(golden); err != nil || got.Past.Weight != 1.5 ||
		!floats.Equal(got.Past.Point, p.Past.Point) {
		t.Errorf("parsed %+v, %v", got, err)
	}
	infinite := append(bytes.Clone(golden[:len(golden)-2]), 0xf0, 0x7f)
	nothing, pastLen := bytes.Clone(golden), paramsLen+8
	clear(nothing[paramsLen:pastLen])
	for name, bad := range map[string][]byte{
		"no point": golden[:pastLen], "half a coordinate": golden[:len(golden)-4], "infinite": infinite, "no weight": nothing,
	} {
		if got, err := ParseParams(bad); err == nil {
			t.Errorf("%s: read as %+v", name, got)
		}
	}
	for _, bad := range []Inherited{{Weight: 1}, {Point: []float64{1}}, {Point: []float64{math.NaN()}, Weight: 1}} {
		if _, err := (Params{Past: bad}).AppendBinary(nil); err == nil {
			t.Errorf("%+v is stored", bad)
		}
	}
}

// TestConformanceWithAPast runs the conformance suite on a stream that continues an earlier one. The reference model of
// an audit must start where the machine does.
func TestConformanceWithAPast(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 8))
	c := sample(t, "l2-ball", 3)
	c.Loss = mustLoss(t, "logistic")
	m := remembering(c, 4, 3)
	events := make([]event.Event, 30)
	for i := range events {
		events[i] = linear(direction(rng, 3, rng.Float64()))
		events[i].Label = float64(1 - i%2*2)
	}
	last := operators.Decision{Step: 7, Point: []float64{0.1, -0.2, 0.3}}
	params := after(t, c, m, last)
	optest.Run(t, func(tb testing.TB, open optest.Open) operators.Machine {
		machine, err := New(c, params, open(m))
		if err != nil {
			tb.Fatal(err)
		}
		return machine
	}, events)
	stored, err := params.AppendBinary(nil)
	if err != nil {
		t.Fatal(err)
	}
	played, err := operator{Config: c, terms: m.Terms}.ReferenceModel(stored)
	if err != nil {
		t.Fatal(err)
	}
	played.Begin()
	if x := played.(*reference).decision; !floats.EqualApprox(x, last.Point, 1e-12) {
		t.Errorf("the reference model starts at %v", x)
	}
}
