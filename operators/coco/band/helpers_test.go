package band

import (
	"math"
	"math/rand/v2"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/loss"
	"oriel/operators/setting"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// config is a band and its loss, for predictions from −1 to 1.
type config struct {
	Settings
	loss loss.Loss
}

func (c config) rule() Rule { return NewRule(c.Settings, c.loss, 1) }

func mustLoss(t testing.TB, name string) loss.Loss {
	t.Helper()
	l, err := loss.Parse(name, 0.9)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// banded returns a configuration with a band around numbers from −1 to 1, whose level and step are dyadic, and a
// mechanism for it. The mechanism has a memory or, if memory is 0, a window.
func banded(t testing.TB, memory, batch uint64) (config, mechanisms.Config) {
	t.Helper()
	c := config{
		Settings{Level: 0.75, Labels: setting.Range{Low: -1, High: 1}, Weight: 1, Step: 1.0 / 256}, mustLoss(t, "squared"),
	}
	m := mechanisms.Config{
		Name: "tree-gaussian", Batch: batch, Budget: dp.Budget{Epsilon: 1, Delta: 1e-6},
		Terms: protection.Terms{Scope: protection.Window{Steps: 64}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	if memory > 0 {
		m.Name, m.Scope = "blt", protection.Decay{Steps: memory}
	}
	return c, c.required(m)
}

// setsOfLabels returns the configuration of banded with sets of labels in place of a band.
func setsOfLabels(t testing.TB, memory, batch uint64) (config, mechanisms.Config) {
	t.Helper()
	c, m := banded(t, memory, batch)
	c.loss, c.Labels = mustLoss(t, "logistic"), setting.Range{}
	return c, c.required(m)
}

// required returns the mechanism with a contribution of gradients in two dimensions and the columns.
func (c config) required(m mechanisms.Config) mechanisms.Config {
	m.Contribution = c.Columns(c.loss, m.Unit).Beside(contribution.Component{Size: 2, Clip: 1})
	return m
}

// machine has a band beside a learner that does not learn: its gradients are 0, and its decisions follow a given path.
type machine struct {
	operators.Base
	band    *Band
	columns int
	path    func(step uint64) [2]float64
	x       []float64
	members operators.Members
	ends    Members
	extras  []decision.ExtraValue
}

// newMachine returns a machine whose first decision is 0 and whose others are on a circle.
func newMachine(t testing.TB, c config, stream *mechanisms.Stream) *machine {
	t.Helper()
	rule := c.rule()
	b, err := New(rule, stream)
	if err != nil {
		t.Fatal(err)
	}
	m := &machine{
		Base: operators.Base{Operator: "band", Stream: stream, Version: 1, Fields: b.Fields()},
		band: b, columns: rule.columns(), x: make([]float64, 2),
		path: func(step uint64) [2]float64 {
			return [2]float64{math.Sin(float64(step)) / 2, math.Cos(float64(step)) / 2}
		},
	}
	m.ends = rule.Declare(&m.members)
	m.extras = m.members.Values()
	return m
}

func (m *machine) Add(r operators.Record) {
	var adds []float64
	if !r.Null {
		adds = m.Stream.Scratch()
		clear(adds)
		m.band.Mark(adds[2:], m.x, r.Event)
	}
	m.Stream.Add(r.Identity, adds)
}

func (m *machine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	t := m.Stream.Step()
	m.band.Step(t)
	x := m.path(t)
	copy(m.x, x[:])
	m.band.Write(m.ends, m.extras, t)
	return append(dst, operators.Decision{Index: t, Step: t, Point: m.x, Extras: m.extras})
}

func openPlan(t testing.TB, c config, m mechanisms.Config, plan mechanisms.Calibration, key byte) *machine {
	t.Helper()
	stream, err := mechanisms.Open(m, plan, [32]byte{key})
	if err != nil {
		t.Fatal(err)
	}
	return newMachine(t, c, stream)
}

func record(offset int, e event.Event) operators.Record {
	return operators.Record{Identity: noise.Identity{Offset: int64(offset), LeaderEpoch: 1}, Event: e}
}

// direction returns a uniform point on the circle of a radius.
func direction(rng *rand.Rand, radius float64) []float64 {
	turn := 2 * math.Pi * rng.Float64()
	return []float64{radius * math.Cos(turn), radius * math.Sin(turn)}
}
