package neighbours

import (
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/schemas/decision"
)

// pair is a Source that exchanges the first record of step 5. The second record of that step is an event, too.
type pair struct{ list }

func (p pair) Next(step uint64, place int) Couple {
	switch {
	case step == 5 && place == 0:
		return p.list.Next(5, 1)
	case step == 5:
		r := eventOf(0.1, 0.1)
		return Couple{Record: r, Neighbour: r}
	}
	return p.list.Next(step, place)
}

// TestContributionsBeyondTheClaimAreNamed checks that an event added twice in its step is reported, because it moves
// contributions by more than the claim.
func TestContributionsBeyondTheClaimAreNamed(t *testing.T) {
	var weight []float64
	twice := func(_ *toy, r operators.Record) bool {
		if weight != nil {
			copy(r.Event.Vector.Values, weight)
			weight = nil
		} else if !r.Null && r.Event.Vector.Values[0]*r.Event.Vector.Values[0] > 1 {
			weight = r.Event.Vector.Values
		}
		return false
	}
	s := subjectOf(t, toyConfig("once-gaussian", protection.PerStep{}), toyFault{takes: twice})
	report, err := s.Compare(pair{list{eventOf(30, -2), eventOf(-30, 2)}}, 10, []uint64{5})
	if err != nil || !strings.Contains(report.Fault, "lattice units apart, claimed is") {
		t.Errorf("%q, %v", report.Fault, err)
	}
}

// TestFaultsOfDecisionsAreNamed checks that lists in decisions are compared. It also checks that data that a machine
// keeps outside its state is detected.
func TestFaultsOfDecisionsAreNamed(t *testing.T) {
	counts := map[*toy]int{}
	for want, says := range map[string]func(m *toy, d *operators.Decision, r operators.Record){
		"step 5: decision 5: the member 1": func(_ *toy, d *operators.Decision, r operators.Record) {
			x := decision.ExtraValue{Numbers: []float64{0}}
			if !r.Null {
				x.Numbers[0] = r.Event.Vector.Values[0]
			}
			d.Extras = []decision.ExtraValue{x}
		},
		"the point": func(m *toy, d *operators.Decision, _ operators.Record) {
			counts[m]++
			d.Point[0] += float64(counts[m])
		},
	} {
		fault, _ := compared(t, subjectOf(t, toyConfig("once-gaussian", protection.PerStep{}), toyFault{says: says}))
		if !strings.Contains(fault, want) {
			t.Errorf("%q, want %q", fault, want)
		}
	}
}

// TestStepsOfAnExchangeAreNamed checks that contributions may differ only in the steps of the exchange, which must have
// the separation of a user's events.
func TestStepsOfAnExchangeAreNamed(t *testing.T) {
	unit := protection.User{Separation: 3}
	for _, row := range []struct {
		steps, at []uint64
		fault     bool
	}{
		{[]uint64{5, 8}, nil, false},
		{[]uint64{5, 7}, nil, true},
		{[]uint64{5, 8}, []uint64{5, 8}, false},
		{[]uint64{5, 8}, []uint64{5, 9}, true},
	} {
		c := toyConfig("blt", protection.Window{Steps: 4})
		c.Unit = unit
		r := &run{frame: &frame{Subject: &Subject{Mechanism: c}}, steps: row.steps}
		if r.finish(row.at); (r.fault != "") != row.fault {
			t.Errorf("steps %v of %v: %q", row.steps, row.at, r.fault)
		}
	}
}

// TestNoiseThatIsDrawnAgainIsNamed checks that a noise vector shared by two steps is reported.
func TestNoiseThatIsDrawnAgainIsNamed(t *testing.T) {
	s := subjectOf(t, toyConfig("once-gaussian", protection.PerStep{}), toyFault{})
	f, err := s.frame()
	if err != nil {
		t.Fatal(err)
	}
	step := func(seed byte) []componentStep {
		return []componentStep{{contributions: []int64{0, 0}, fills: []fill{{noise.Seed{seed}, []int64{0, 0}}}}}
	}
	for want, seeds := range map[string][2]byte{"": {1, 2}, "step 2: noise that was drawn before is drawn again": {1, 1}} {
		r := f.run(&recording{steps: [][]componentStep{step(seeds[0]), step(seeds[1])}})
		if r.freshNoise(); r.fault != want {
			t.Errorf("%q, want %q", r.fault, want)
		}
	}
}

// leaking is a sum that adds its release from before a reset to those after it.
type leaking struct {
	mechanisms.Sum
	reset  uint64
	before lattice.Int128
}

func (l *leaking) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) {
	l.Sum.Add(dst, v, chain)
	if l.Steps() == l.reset {
		l.before = l.Increments()[0]
	}
}

func (l *leaking) Increments() []lattice.Int128 {
	all := slices.Clone(l.Sum.(mechanisms.Incremental).Increments())
	if l.Steps() > l.reset {
		all[0] = all[0].Add(l.before)
	}
	return all
}

// TestNoiseFromBeforeAResetIsNamed checks that noise that survives a reset is reported.
func TestNoiseFromBeforeAResetIsNamed(t *testing.T) {
	c := toyConfig("blt", protection.Decay{Steps: 8})
	s := subjectOf(t, c, toyFault{})
	reset := decay.Period(8)
	s.Sums = func(sampler noise.Sampler) ([]mechanisms.Sum, error) {
		sums, err := s.Calibration.SumsOver(c, sampler)
		for k := range sums {
			sums[k] = &leaking{Sum: sums[k], reset: reset}
		}
		return sums, err
	}
	fault, err := s.CheckSums()
	if err != nil || !strings.Contains(fault, "adds noise from before the reset") {
		t.Errorf("%q, %v", fault, err)
	}
}

// threes is a quantiser that claims contributions within 3 units of zero, and writes its input unchanged.
type threes struct{}

func (threes) Entries() int { return 1 }

func (threes) Distances(lattice.Grid) (replace, zeroOut lattice.Int128) {
	return lattice.Square(6), lattice.Square(3)
}

func (threes) Quantise(_ lattice.Grid, dst []int64, v []float64) { dst[0] = int64(v[0]) }

// TestContributionsBeyondTheQuantiserAreNamed checks that a contribution that exceeds its quantiser's claim is
// reported, even if by one unit.
func TestContributionsBeyondTheQuantiserAreNamed(t *testing.T) {
	for length, fault := range map[float64]bool{3: false, -3: false, 4: true, -4: true} {
		r := &run{frame: &frame{components: make([]definition.Component, 1)}}
		watchedQuantiser{threes{}, &player{run: r}, 0}.Quantise(lattice.Grid{}, make([]int64, 1), []float64{length})
		if (r.fault != "") != fault {
			t.Errorf("%g units: %q", length, r.fault)
		}
	}
}

// TestNoiseThatIsHalvedIsNamed checks that releases with half of the noise are reported, although they differ by the
// contributions' difference.
func TestNoiseThatIsHalvedIsNamed(t *testing.T) {
	c := toyConfig("once-gaussian", protection.PerStep{})
	grid, err := lattice.NewGrid(c.Clip())
	if err != nil {
		t.Fatal(err)
	}
	s := subjectOf(t, c, toyFault{sum: func(dst []float64, v []lattice.Int128, chain *noise.Chain, sum mechanisms.Sum) {
		sum.Add(dst, v, chain)
		for i, x := range v {
			dst[i] = (dst[i] + grid.Float64(x)) / 2
		}
	}})
	if fault, err := s.CheckSums(); err != nil || !strings.Contains(fault, "holds 0.5 times the noise") {
		t.Errorf("%q, %v", fault, err)
	}
}

// TestLengthsAreComparedInEachEncoding checks that answers to exchanged records may have any contents of one length.
// Two answers that are equally long in one encoding may differ in another, because only JSON writes numbers as text.
func TestLengthsAreComparedInEachEncoding(t *testing.T) {
	of := func(number float64, first, second string) operators.Decision {
		return operators.Decision{
			Index: 3, Output: 1, Point: []float64{number}, Extras: []decision.ExtraValue{{Text: first}, {Text: second}},
		}
	}
	r := &run{frame: &frame{Subject: &Subject{KeyText: -1, Extras: []decision.Extra{
		{Name: "first", Kind: decision.ExtraText}, {Name: "second", Kind: decision.ExtraText},
	}}}}
	long := strings.Repeat("x", 64)
	for name, c := range map[string]struct {
		want, got operators.Decision
		fault     bool
	}{
		"equal":               {of(1, "a", ""), of(2, "", "b"), false},
		"longer in JSON":      {of(1, "a", ""), of(10, "", "b"), true},
		"equal in JSON alone": {of(1, "a", "b"), of(-1, "", "b"), true},
		"longer in Avro":      {of(1, long, ""), of(1, long[:32], long[:32]), true},
		"longer everywhere":   {of(1, "a", "b"), of(1, "", "b"), true},
	} {
		if fault := r.differs(c.want, c.got, true); (fault != "") != c.fault {
			t.Errorf("%s: %q", name, fault)
		}
		if r.differs(c.want, c.got, false) == "" {
			t.Errorf("%s: answers to equal records may differ", name)
		}
	}
}
