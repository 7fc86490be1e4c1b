package plan

import (
	"cmp"
	"math"
	"slices"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/clock"
	"oriel/cmd/internal/plan/decisions"
	"oriel/cmd/internal/plan/opened"
	"oriel/cmd/internal/plan/rates"
	"oriel/cmd/internal/plan/volume"
	"oriel/mechanisms"
	"oriel/mechanisms/blt"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/operators"
	"oriel/operators/setting"
)

// Input holds the settings and rates of a report.
type Input struct {
	Configured mechanisms.Config
	Operator   operators.Operator
	Name       string           // name of the operator
	AgeWeight  float64          // age weight for blt if blt is not the configured mechanism
	Rate       float64          // events per second of one stream; 0: unknown
	Age        uint64           // additional age in the tables, steps; 0: none
	Stream     volume.Opened    // sizes and draws of the configured stream; zero: unknown
	Costs      *setting.Range   // range of each cost of an event; nil: unknown
	Input      rates.Partitions // partitions of the input
	After      uint64           // additional number of events in a cell for which ratios are shown; 0: none
	Clock      clock.Input      // steps by the clock; zero: by count
}

// stepEvents returns the number of events in a step, on average by the clock, or none if it is unknown.
func (in Input) stepEvents() digits.Number {
	switch length := in.Clock.Clock.Length; {
	case length == 0:
		return digits.Number(in.Configured.Batch)
	case in.Rate > 0:
		return digits.Number(in.Rate * float64(length))
	}
	return digits.None
}

// configured reports whether a variant is the configured mechanism.
func (in Input) configured(v variant) bool { return v.name == in.Configured.Name && !v.windowed }

// ages returns the ages of the scope and the requested age, in order. If the loss is the same at all ages, it returns
// only one age.
func (in Input) ages() []Age {
	scope := in.Configured.Scope
	var ages []Age
	add := func(name string, windows, steps uint64) {
		ages = append(ages, Age{windows, steps, in.seconds(steps), name})
	}
	for _, age := range in.Configured.Words().Ages {
		add(age.Name, age.Spans, age.Steps)
	}
	if scope.Span() == 0 {
		ages[0].Steps, ages[0].Seconds = max(1, in.Age), in.seconds(max(1, in.Age))
		return ages
	}
	if in.Age > 0 && in.Age < scope.End() && !slices.ContainsFunc(ages, func(a Age) bool { return a.Steps == in.Age }) {
		add("age", 0, in.Age)
		slices.SortFunc(ages, func(a, b Age) int { return cmp.Compare(a.Steps, b.Steps) })
	}
	return ages
}

// seconds returns how long the given number of steps takes, or none if steps are by count and the rate is unknown.
func (in Input) seconds(steps uint64) digits.Number {
	if length := in.Clock.Clock.Length; length > 0 {
		return digits.Number(float64(steps) * float64(length))
	}
	if !(in.Rate > 0) {
		return digits.None
	}
	return digits.Number(float64(steps) * float64(in.Configured.Batch) / in.Rate)
}

// describe fills in the figures that follow from the settings alone.
func (r *Report) describe(in Input) {
	c := in.Configured
	scope, unit, d := c.Scope.Figures(), c.Unit.Figures(), in.Operator.Describe(c)
	r.Setting = Setting{
		Mechanism: c.Name, Window: scope.Window, Batch: c.Batch, StepSeconds: in.Clock.Clock.Length, Dimension: c.Dimension(),
		Epsilon: c.Budget.Epsilon, Delta: c.Budget.Delta, Adjacency: c.Unit.Adjacency().String(), Clip: c.Clip(),
		Separation: unit.Separation, UserWindow: unit.Among,
		UserPeriod: unit.Period, UserEvents: unit.Events, UserValues: unit.Values,
		Horizon: scope.Horizon, Memory: scope.Memory,
		WindowSeconds: digits.None, MemorySeconds: digits.None, EventsPerSecond: digits.None, Radius: digits.None,
		Rule: d.Distance, Steps: d.Steps, Costs: decisions.CostsOf(in.Operator, in.Costs),
		SealedStateBytes: in.Stream.SealedState,
		Draws:            d.Draws, DrawsPure: in.Stream.Draws.Pure, DrawsRho: in.Stream.Draws.Rho,
		terms: c.Terms,
	}
	if d.Damping != nil && d.Radius > 0 {
		r.Setting.Radius = digits.Number(d.Radius)
	}
	if d.Clip > 0 {
		r.Setting.Clip = d.Clip
	}
	if in.Rate > 0 {
		r.Setting.EventsPerSecond = digits.Number(in.Rate)
	}
	r.Optimum.Factor = digits.None
	switch span := c.Scope.Span(); {
	case decays(c.Scope):
		r.Setting.MemorySeconds, r.Optimum.Factor = in.seconds(span), digits.Number(decay.Optimum(span))
	case !c.Scope.ForLife():
		r.Setting.WindowSeconds, r.Optimum.Factor = in.seconds(span), digits.Number(blt.Optimum(span))
	case span > 0:
		r.Setting.WindowSeconds = in.seconds(span)
	}
}

// about fills in the figures of the setting that follow from the configured mechanism.
func (r *Report) about(m *opened.Mechanism, in Input) (err error) {
	r.Setting.Unit = m.Guarantee.Unit.Name()
	r.Setting.Sensitivity, r.Setting.LatticeUnits, r.Setting.LatticeUnit = m.Sensitivity(), m.Lattice(),
		m.Calibration.Grid.Unit()
	r.Optimum.Mu, r.Optimum.RMSCoordinate, r.Optimum.RMSVector = digits.None, digits.None, digits.None
	if m.Config.Budget.Delta > 0 && r.Optimum.Factor.Known() {
		mu := dp.GaussianMu(m.Config.Budget)
		r.Optimum.Mu = digits.Number(mu)
		r.Optimum.RMSCoordinate = digits.Number(math.Sqrt(float64(r.Optimum.Factor)) * m.Sensitivity() / mu)
		r.Optimum.RMSVector = r.Optimum.RMSCoordinate * digits.Number(math.Sqrt(float64(m.Config.Dimension())))
		if m.Several() { // the error of each component exceeds the component's minimum by the same factor
			mean, _ := m.RMS()
			r.Optimum.RMSCoordinate = digits.Number(mean / math.Sqrt(m.OverLeast()/float64(r.Optimum.Factor)))
			r.Optimum.RMSVector = r.Optimum.RMSCoordinate * digits.Number(math.Sqrt(float64(m.Config.Dimension())))
		}
	}
	if advice, ok := decisions.AdviceOf(m, in.Operator, in.Costs); ok {
		r.Advice = &advice
	}
	r.Band, err = decisions.BandOf(m, in.Operator.Describe(in.Configured).Band)
	return err
}
