package neighbours

import (
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/schemas/event"
)

// toy is a machine that publishes its release. A planted fault changes how it handles records, or its decisions.
type toy struct {
	operators.Base
	seen  uint64 // part of the state
	last  operators.Record
	fault toyFault
	point []float64
}

type toyFault struct {
	takes func(m *toy, r operators.Record) (skip bool)
	says  func(m *toy, d *operators.Decision, r operators.Record)
	sum   func(dst []float64, v []lattice.Int128, chain *noise.Chain, sum mechanisms.Sum)
}

func (m *toy) Add(r operators.Record) {
	m.last = r
	if m.fault.takes != nil && m.fault.takes(m, r) {
		return
	}
	var adds []float64
	if !r.Null {
		adds = r.Event.Vector.Values
	}
	m.Stream.Add(r.Identity, adds)
}

func (m *toy) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	t := m.Stream.Step()
	m.point = append(m.point[:0], m.Stream.Sum(0)...)
	d := operators.Decision{Index: t, Step: t, Point: m.point}
	if m.fault.says != nil {
		m.fault.says(m, &d, m.last)
	}
	return append(dst, d)
}

// bent is a sum with a planted fault.
type bent struct {
	mechanisms.Sum
	add func(dst []float64, v []lattice.Int128, chain *noise.Chain, sum mechanisms.Sum)
}

func (b bent) Add(dst []float64, v []lattice.Int128, chain *noise.Chain) { b.add(dst, v, chain, b.Sum) }

// subjectOf returns the toy over a mechanism.
func subjectOf(t *testing.T, c mechanisms.Config, fault toyFault) *Subject {
	t.Helper()
	p := mechtest.Plan(t, c)
	s := New(c, p, [32]byte{1}, func(stream *mechanisms.Stream) (operators.Machine, error) {
		m := &toy{Base: operators.Base{Operator: "toy", Stream: stream}, fault: fault}
		m.Fields = []operators.Field{operators.Counter(&m.seen)}
		return m, nil
	})
	if fault.sum != nil {
		s.Sums = func(sampler noise.Sampler) ([]mechanisms.Sum, error) {
			sums, err := p.SumsOver(c, sampler)
			for k := range sums {
				sums[k] = bent{sums[k], fault.sum}
			}
			return sums, err
		}
	}
	return s
}

// list is a Source of null records and two events, the second of which is exchanged.
type list struct{ first, second operators.Record }

func (l list) Next(step uint64, place int) Couple {
	switch {
	case step == 5 && place == 1:
		return Couple{l.first, l.second, true}
	case step%2 == 0 && place == 0:
		r := eventOf(0.1, float64(step)/100)
		return Couple{Record: r, Neighbour: r}
	}
	return Couple{Record: operators.Record{Null: true}, Neighbour: operators.Record{Null: true}}
}

func (list) Observe([]operators.Decision) {}

func eventOf(values ...float64) operators.Record {
	return operators.Record{Event: event.Event{Vector: event.Vector{Values: values}}}
}

// compared plays pairs of streams in which an event is exchanged for its opposite, or for a null record.
func compared(t *testing.T, s *Subject) (fault string, largest [][]int64) {
	t.Helper()
	for _, second := range []operators.Record{eventOf(-30, 2), {Null: true}} {
		report, err := s.Compare(list{eventOf(30, -2), second}, 10, []uint64{5})
		if err != nil {
			t.Fatal(err)
		}
		if report.Fault != "" {
			return report.Fault, nil
		}
		if largest == nil {
			largest = report.Largest
		}
	}
	fault, err := s.CheckSums()
	if err != nil {
		t.Fatal(err)
	}
	return fault, largest
}

func toyConfig(name string, scope protection.Scope) mechanisms.Config {
	c := mechtest.Config(2)
	c.Name, c.Batch, c.Scope = name, 2, scope
	return c
}

// TestCorrectMachinesHaveNoFault checks that no correct machine has a fault, and that the pair of streams reaches the
// claimed distance.
func TestCorrectMachinesHaveNoFault(t *testing.T) {
	window := protection.Window{Steps: 4}
	for _, c := range []mechanisms.Config{
		toyConfig("tree-gaussian", window), toyConfig("tree-gamma", window), toyConfig("tree-laplace", window),
		toyConfig("blt", window), toyConfig("blt", protection.Decay{Steps: 8}),
		toyConfig("once-gaussian", protection.PerStep{}),
	} {
		s := subjectOf(t, c, toyFault{})
		fault, largest := compared(t, s)
		if fault != "" {
			t.Errorf("%s: %s", c.Name, fault)
			continue
		}
		share, fault, err := s.Loss(largest)
		if err != nil || fault != "" || share < 0.7 || share > 1+rounding {
			t.Errorf("%s: share %g, %s, %v", c.Name, share, fault, err)
		}
		for i := range largest[0] {
			largest[0][i] += largest[0][i] / 2
		}
		if _, fault, err := s.Loss(largest); err != nil || share > 0.9 && !strings.Contains(fault, "the guarantee says") {
			t.Errorf("%s: contributions half as far again lose no more: %q, %v", c.Name, fault, err)
		}
		stream := mechtest.Open(t, c, s.Key)
		if fault, err := s.CompareDeployed(list{eventOf(30, -2), eventOf(30, -2)}, 10, stream); err != nil || fault != "" {
			t.Errorf("%s: as deployed: %s, %v", c.Name, fault, err)
		}
	}
}

// TestFaultsAreNamed checks that each planted fault is reported, with the step where it shows.
func TestFaultsAreNamed(t *testing.T) {
	for what, c := range map[string]struct {
		fault toyFault
		says  string
	}{
		"a decision with an event": {toyFault{says: func(_ *toy, d *operators.Decision, r operators.Record) {
			if !r.Null {
				d.Point[0] += 1e-6 * r.Event.Vector.Values[0]
			}
		}}, "step 5: decision 5: the point"},
		"a longer decision": {toyFault{says: func(_ *toy, d *operators.Decision, r operators.Record) {
			if r.Null {
				d.Point = d.Point[:1]
			}
		}}, "step 5: a decision has another index"},
		"a count in the state": {toyFault{takes: func(m *toy, r operators.Record) bool {
			if !r.Null {
				m.seen++
			}
			return false
		}}, "the public part of the state"},
		"a draw for an event": {toyFault{takes: func(m *toy, r operators.Record) bool {
			if !r.Null && r.Event.Vector.Values[0] > 1 {
				m.Stream.Choose(1, []int64{1, 2}, mechanisms.ByLogs(3))
			}
			return false
		}}, "draws so far"},
		"scores of an event": {toyFault{takes: func(m *toy, r operators.Record) bool {
			m.Stream.Choose(1, []int64{1, int64(len(r.Event.Vector.Values))}, mechanisms.ByLogs(3))
			return false
		}}, "scores of a draw depend on events"},
		"an event that stops": {toyFault{takes: func(_ *toy, r operators.Record) bool {
			if !r.Null && r.Event.Vector.Values[0] < -1 {
				panic("a number")
			}
			return false
		}}, "step 5: the machine stops in the neighbouring stream"},
		"another step": {toyFault{sum: func(dst []float64, v []lattice.Int128, chain *noise.Chain, sum mechanisms.Sum) {
			shift := slices.Clone(v)
			if (lattice.Int128{Lo: lattice.CoarseBits}).Less(v[0]) {
				shift[0] = shift[0].Add(shift[0])
			}
			sum.Add(dst, shift, chain)
		}}, "the release of coordinate 1 differs"},
		"noise of no history": {toyFault{sum: func(dst []float64, v []lattice.Int128, _ *noise.Chain, sum mechanisms.Sum) {
			sum.Add(dst, v, noise.NewChain([32]byte{1}))
		}}, "noise is drawn as in the neighbouring stream"},
		"noise for events alone": {toyFault{sum: func(
			dst []float64, v []lattice.Int128, chain *noise.Chain, sum mechanisms.Sum,
		) {
			sum.Add(dst, v, chain)
			if v[0].Hi < 0 {
				other := bent{Sum: sum}
				state := sum.AppendState(nil)
				other.Sum.Add(slices.Clone(dst), v, chain)
				_ = sum.Restore(state)
			}
		}}, "noise vectors are drawn"},
	} {
		fault, _ := compared(t, subjectOf(t, toyConfig("once-gaussian", protection.PerStep{}), c.fault))
		if !strings.Contains(fault, c.says) {
			t.Errorf("%s: %q, want %q", what, fault, c.says)
		}
	}
}

// TestDeployedNoiseIsThatOfTheCalibration checks that a stream opened with half of the noise is reported.
func TestDeployedNoiseIsThatOfTheCalibration(t *testing.T) {
	c := toyConfig("blt", protection.Window{Steps: 4})
	s := subjectOf(t, c, toyFault{})
	half := s.Calibration.Scale
	half.Exp--
	sampler, err := noise.NewGaussian(half)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := mechanisms.NewStream(c, s.Calibration, s.Key, mechtest.Sums(t, c, s.Calibration, sampler)...)
	if err != nil {
		t.Fatal(err)
	}
	fault, err := s.CompareDeployed(list{eventOf(1, 2), eventOf(1, 2)}, 4, stream)
	if err != nil || !strings.Contains(fault, "step 1: another release") {
		t.Errorf("%q, %v", fault, err)
	}
}
