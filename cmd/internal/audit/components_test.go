package audit

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/audit/exact"
	"oriel/cmd/internal/audit/subject"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/perstep"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/description"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// varied is an operator whose contribution uses every feature of contributions, and which draws by the exponential
// mechanism. It adds three components: a gradient with a scale for each coordinate, a cell of a count that a quantiser
// sets to Λ, and a number that a quantiser centres at a value computed from the last release.
type varied struct {
	cells   mechtest.OneHot
	leaks   bool // fault: the scores of draws depend on events
	draws   func(m *variedMachine) bool
	chooses mechanisms.Exponential // distribution of the operator's draws
}

// centred is a quantiser that returns the difference of a number and a public centre, clamped to Λ.
type centred struct{}

func (centred) Entries() int { return 2 }

func (centred) Distances(g lattice.Grid) (replace, zeroOut lattice.Int128) {
	return lattice.Square(2 * g.Lambda), lattice.Square(g.Lambda)
}

func (centred) Quantise(g lattice.Grid, dst []int64, v []float64) {
	x := (v[0] - v[1]) / g.Unit()
	if x == x {
		dst[0] = int64(max(-float64(g.Lambda), min(float64(g.Lambda), math.RoundToEven(x))))
	}
}

func (v varied) Require(m *mechanisms.Config, _ []byte) error {
	m.Contribution = contribution.Contribution{Components: []contribution.Component{
		{Name: "gradient", Size: 2, Clip: 0.75, Scales: []uint32{4, 1}, Share: 2},
		{Name: "cells", Size: 3, Clip: 1, Quantiser: v.cells, Share: 1},
		{Name: "centred", Size: 1, Clip: 2, Quantiser: centred{}, Scales: []uint32{3}, Share: 3},
	}}
	return nil
}

func (varied) Params(mechanisms.Config) ([]byte, error) { return nil, nil }

func (v varied) Open(_ []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	return &variedMachine{varied: v, Stream: sums}, nil
}

func (varied) Describe(mechanisms.Config) description.Figures {
	return description.Figures{Draws: true}
}

func (varied) Extras() []decision.Extra { return nil }

func (v varied) ReferenceModel([]byte) (operators.ReferenceModel, error) {
	return &variedReference{varied: v}, nil
}

type variedMachine struct {
	varied
	*mechanisms.Stream
	last float64 // number of the last event; a planted fault may omit it from the state
}

func (m *variedMachine) Open(dst []operators.Decision) []operators.Decision { return dst }

func (m *variedMachine) Add(r operators.Record) {
	var v []float64
	if !r.Null {
		v = slices.Concat(r.Event.Vector.Values, r.Event.Numbers, []float64{centre(m.Sum(0))})
		m.last = r.Event.Numbers[0]
	}
	m.Stream.Add(r.Identity, v)
}

func (m *variedMachine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	scores := []int64{int64(10 * math.Tanh(m.Sum(0)[0])), 0, 3}
	if m.leaks {
		scores[1] = int64(m.last)
	}
	drawn := 0
	if m.draws == nil || m.draws(m) {
		drawn = m.Choose(0, scores, m.chooses)
	}
	t := m.Steps()
	return append(dst, operators.Decision{
		Index: t, Step: t,
		Point: slices.Concat(m.Sum(0), m.Sum(1), m.Sum(2), []float64{float64(drawn)}),
	})
}

// centre returns the public centre. It is public because it depends on releases alone.
func centre(release []float64) float64 { return 0.01 * math.Tanh(release[0]) }

func (m *variedMachine) Steps() uint64 { return m.Step() }

func (m *variedMachine) Due(step uint64) (uint64, int) { return step, int(min(step, 1)) }

// variedReference is the reference model of varied. It computes the releases from the decisions.
type variedReference struct {
	operators.OneRecord
	varied
	release [2]float64
}

func (t *variedReference) Begin() { t.release = [2]float64{} }

func (t *variedReference) Observe(decisions []operators.Decision) {
	for _, d := range decisions {
		copy(t.release[:], d.Point)
	}
}

func (t *variedReference) Contribution(dst []float64, r operators.Record) bool {
	if r.Null {
		return false
	}
	copy(dst, slices.Concat(r.Event.Vector.Values, r.Event.Numbers, []float64{centre(t.release[:])}))
	return true
}

// Canary returns events with gradients beyond the clip, in two different cells, and with numbers beyond both ends.
func (t *variedReference) Canary(u []float64, factor float64) (with, without operators.Record) {
	record := func(sign, cell float64) operators.Record {
		far := sign * operators.CanaryFactor * factor
		return operators.Record{Event: event.Event{
			Vector: event.Vector{Values: []float64{far * u[0], far * u[1], cell}}, Numbers: []float64{4 * far},
		}}
	}
	return record(1, 0), record(-1, 2)
}

func (t *variedReference) Tangent(u []float64) {}

// lawOfDraws is the exponential mechanism of the draws. Scores are within ±10, so that every index is drawn sometimes.
var lawOfDraws = mechanisms.Exponential{
	Epsilon: mechanisms.Ratio{Num: 1, Den: 1}, Sensitivity: mechanisms.Ratio{Num: 4, Den: 1},
}

// variedSubject returns the subject of an audit of v at ε = 20.
func variedSubject(t *testing.T, v varied, part int, change func(*mechanisms.Config)) *subject.Subject {
	t.Helper()
	m := mechanisms.Config{
		Name: "tree-gaussian", Batch: 2, Budget: dp.Budget{Epsilon: 20, Delta: 1e-6},
		Terms: protection.Terms{Scope: protection.Window{Steps: 8}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	if v.chooses == (mechanisms.Exponential{}) {
		v.chooses = lawOfDraws
	}
	if err := v.Require(&m, nil); err != nil {
		t.Fatal(err)
	}
	change(&m)
	a, err := subject.Of(m, v, [32]byte{1}, part)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// decays makes contributions decay over eight steps.
func decays(m *mechanisms.Config) { m.Scope = protection.Decay{Steps: 8} }

// TestAuditOfComponentsReachesTheClaim checks that all components together reach the whole claim and not more, and that
// each component alone reaches its share of the claim. Attacks must bound most of it. Whatever the noise distribution,
// nothing may be refuted, and no test may be left out.
func TestAuditOfComponentsReachesTheClaim(t *testing.T) {
	for _, x := range []struct {
		name   string
		part   int
		bounds bool // whether an attack is long enough to give a bound
		change func(*mechanisms.Config)
	}{
		{"blt", subject.AllComponents, true, func(*mechanisms.Config) {}},
		{
			"blt", subject.AllComponents, tiertest.Runs(false, true),
			func(m *mechanisms.Config) { m.Unit, m.Batch = protection.Event{Exchange: dp.ZeroOut}, 1 },
		},
		{
			"blt", subject.AllComponents, false,
			func(m *mechanisms.Config) { m.Unit = protection.User{Exchange: dp.Replace, Separation: 3} },
		},
		{"blt", 0, false, func(*mechanisms.Config) {}},
		{"blt", 1, false, func(*mechanisms.Config) {}},
		{"blt", 2, true, func(m *mechanisms.Config) { m.Batch = 1 }},
		{"tree-gaussian", subject.AllComponents, true, func(m *mechanisms.Config) { m.Batch = 1 }},
		{"once-gaussian", subject.AllComponents, true, func(m *mechanisms.Config) {
			m.Scope, m.Batch = protection.PerStep{}, 1
		}},
		{"blt", subject.AllComponents, false, decays},
		{"blt", 1, false, decays},
		{"tree-gamma", subject.AllComponents, false, func(*mechanisms.Config) {}},
		{"tree-laplace", subject.AllComponents, false, func(*mechanisms.Config) {}},
		{"once-gamma", subject.AllComponents, false, func(m *mechanisms.Config) { m.Scope = protection.PerStep{} }},
	} {
		what := fmt.Sprintf("%s, part %d", x.name, x.part)
		a := variedSubject(t, varied{}, x.part, func(m *mechanisms.Config) { m.Name = x.name; x.change(m) })
		a.Repeated = fewRepeats()
		o := options(honestRuns())
		o.Position = 1
		r, err := Run(t.Context(), a, o)
		if err != nil {
			t.Fatal(err)
		}
		var table bytes.Buffer
		if err := errors.Join(r.Err(), r.Print(&table)); err != nil {
			t.Errorf("%s: %v", what, err)
		}
		t.Logf("%s\n%s", what, table.String())
		left := map[bool]int{true: 0, false: 2}[x.part == subject.AllComponents]
		if len(r.notAttacked) != left {
			t.Errorf("%s: left out: %v", what, r.notAttacked)
		}
		if !strings.Contains(table.String(), "contributions that quantisers return") != (x.part == 0) ||
			!strings.Contains(table.String(), "draws") {
			t.Errorf("%s: not all was looked at\n%s", what, table.String())
		}
		if reach, claim := r.attacks[0].Law.Reach(), claimed(a); reach > claim*(1+1e-9) || reach < 0.9*claim {
			t.Errorf("%s: a canary reaches %g of %g", what, reach, claim)
		}
		if x.bounds {
			boundsItsReach(a, t, 1)
		}
	}
}

// TestAuditCatchesFaultsOfComponents plants a fault in one component. The test of that component must find it.
func TestAuditCatchesFaultsOfComponents(t *testing.T) {
	plain := func(*mechanisms.Config) {}
	a := variedSubject(t, varied{cells: mechtest.OneHot{Short: true}}, subject.AllComponents, plain)
	refutes(t, "a distance short by √2", a, "distances", ErrCheck)

	a = variedSubject(t, varied{leaks: true}, subject.AllComponents, plain)
	refutes(t, "scores of events, and a guarantee of sums", a, "decisions", ErrCheck)

	a = variedSubject(t, varied{draws: func(m *variedMachine) bool { return m.last > 0 }}, subject.AllComponents, plain)
	refutes(t, "draws that come or not as events say", a, "decisions", ErrCheck)

	for part := range 3 {
		for what, fault := range map[string]struct {
			name string
			bend func(s *noise.Scale, instance *uint16)
		}{
			"half the noise":         {"scale", func(s *noise.Scale, _ *uint16) { s.Exp-- }},
			"an instance of another": {"coordinates", func(_ *noise.Scale, i *uint16) { *i = (*i + 1) % 3 }},
		} {
			a := variedSubject(t, varied{}, subject.AllComponents, func(m *mechanisms.Config) {
				m.Name, m.Scope = "once-gaussian", protection.PerStep{}
			})
			a.Stream = perStepWith(t, part, fault.bend)
			refutes(t, fmt.Sprintf("%s in part %d", what, part), a, fault.name, ErrNoise)
		}
	}
}

// perStepWith returns a function that opens per-step streams in which bend changes the noise of the component with
// index bent.
func perStepWith(t *testing.T, bent int, bend func(s *noise.Scale, instance *uint16)) func(
	mechanisms.Config, mechanisms.Calibration, [32]byte,
) (*mechanisms.Stream, error) {
	return func(c mechanisms.Config, p mechanisms.Calibration, key [32]byte) (*mechanisms.Stream, error) {
		var sums []mechanisms.Sum
		for k, part := range c.Contribution.Components {
			scale, instance := p.Component(k).Scale, uint16(k)
			if k == bent {
				bend(&scale, &instance)
			}
			sampler, err := noise.NewGaussian(scale)
			if err != nil {
				t.Fatal(err)
			}
			sum, err := perstep.New(p.Component(k).Grid, part.Size, sampler, instance)
			if err != nil {
				t.Fatal(err)
			}
			sums = append(sums, sum)
		}
		return mechanisms.NewStream(c, p, key, sums...)
	}
}

// TestAuditCatchesDrawsOfAnotherLaw plants draws of an exponential mechanism with four times the claimed rate.
func TestAuditCatchesDrawsOfAnotherLaw(t *testing.T) {
	a := variedSubject(t, varied{}, subject.AllComponents, func(*mechanisms.Config) {})
	steep := lawOfDraws
	steep.Sensitivity.Den = 4
	draws := func(law mechanisms.Exponential) []exact.RecordedDraw {
		stream, err := mechanisms.Open(a.WholeMechanism, a.WholeCalibration, [32]byte{3})
		if err != nil {
			t.Fatal(err)
		}
		var out []exact.RecordedDraw
		for i := range 2000 {
			scores := []int64{int64(i % 9), 4, int64(i % 5)}
			out = append(out, exact.RecordedDraw{
				Draw: mechanisms.Draw{Law: lawOfDraws, Scores: scores}, Index: stream.Choose(0, scores, law),
			})
		}
		return out
	}
	if test := exact.DrawTest(a, draws(lawOfDraws)); test.P < alpha || test.Count != 2000 {
		t.Errorf("honest draws: %+v", test)
	}
	if test := exact.DrawTest(a, draws(steep)); test.P > 1e-9 {
		t.Errorf("at four times the rate: %+v", test)
	}
}

// TestAuditOfAMissingComponentIsRefused checks that a component that does not exist cannot be audited. It also checks
// that µ² of the whole contribution is the sum of µ² over its components.
func TestAuditOfAMissingComponentIsRefused(t *testing.T) {
	m := mechanisms.Config{
		Name: "blt", Batch: 1, Budget: dp.Budget{Epsilon: 20, Delta: 1e-6},
		Terms: protection.Terms{Scope: protection.Window{Steps: 8}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	if err := (varied{}).Require(&m, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := subject.Of(m, varied{}, [32]byte{1}, 3); err == nil ||
		!strings.Contains(err.Error(), "component 3 of a contribution that has 3") {
		t.Errorf("%v", err)
	}
	whole := variedSubject(t, varied{}, subject.AllComponents, func(*mechanisms.Config) {}).Guarantee
	squares := 0.0
	for part := range 3 {
		squares += math.Pow(variedSubject(t, varied{}, part, func(*mechanisms.Config) {}).Guarantee.Mu, 2)
	}
	if math.Abs(math.Sqrt(squares)-whole.Mu) > 1e-9 {
		t.Errorf("parts have µ = %g together, the whole %g", math.Sqrt(squares), whole.Mu)
	}
}
