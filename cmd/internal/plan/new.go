package plan

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"oriel/cmd/internal/digits"
	"oriel/mechanisms/blt"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/dp"
	"oriel/operators"
)

// groups are the sizes of the group table.
var groups = []uint64{2, 5, 10}

// New computes a report. It fails if no plan fits the configured mechanism.
func New(in Input) (*Report, error) {
	c := in.Configured
	scope, unit := c.Scope.Figures(), c.Unit.Figures()
	r := &Report{Solved: in.Solved, Setting: Setting{
		Mechanism: c.Name, Window: scope.Window, Batch: c.Batch, Dimension: c.Dimension(),
		Epsilon: c.Budget.Epsilon, Delta: c.Budget.Delta, Adjacency: c.Unit.Adjacency().String(), Clip: c.Clip(),
		SealedStateBytes: in.SealedState, Separation: unit.Separation, UserWindow: unit.Among, Horizon: scope.Horizon,
		Memory: scope.Memory, terms: c.Terms,
		EventsPerSecond: digits.None,
	}}
	d := in.Operator.Describe(c)
	r.Setting.Radius, r.Setting.Rule, r.Setting.Steps = digits.None, d.Distance, d.Steps
	r.Setting.Costs = costsOf(in.Operator, in.Costs)
	if d.Damping != nil && d.Radius > 0 {
		r.Setting.Radius = digits.Number(d.Radius)
	}
	if d.Clip > 0 {
		r.Setting.Clip = d.Clip
	}
	r.Setting.Draws, r.Setting.DrawsPure, r.Setting.DrawsRho = d.Draws, in.Draws.Pure, in.Draws.Rho
	if in.Rate > 0 {
		r.Setting.EventsPerSecond = digits.Number(in.Rate)
	}
	r.Setting.WindowSeconds, r.Setting.MemorySeconds, r.Optimum.Factor = digits.None, digits.None, digits.None
	switch span := c.Scope.Span(); {
	case decays(c.Scope):
		r.Setting.MemorySeconds, r.Optimum.Factor = in.seconds(span), digits.Number(decay.Optimum(span))
	case !c.Scope.ForLife():
		r.Setting.WindowSeconds, r.Optimum.Factor = in.seconds(span), digits.Number(blt.Optimum(span))
	case span > 0:
		r.Setting.WindowSeconds = in.seconds(span)
	}
	r.Ages = in.ages()
	r.LeftOut = []Omitted{}
	variants := in.variants()
	rows := make([]answer, len(variants))
	var done sync.WaitGroup
	for i, v := range variants {
		done.Go(func() { rows[i] = r.answer(in, v) })
	}
	done.Wait()
	for i, a := range rows {
		switch {
		case a.err != nil && in.configured(variants[i]):
			return nil, a.err
		case a.err != nil:
			a.reason = strings.ReplaceAll(a.err.Error(), "mechanisms: ", "")
			fallthrough
		case a.reason != "":
			r.LeftOut = append(r.LeftOut, Omitted{variants[i].name, a.reason})
			continue
		case in.configured(variants[i]):
			r.about(a.row.machine)
			var err error
			if r.Band, err = a.row.machine.band(d.Band); err != nil {
				return nil, err
			}
			if advice, ok := a.row.machine.advice(in.Operator, in.Costs); ok {
				r.Advice = &advice
			}
		}
		a.row.MemoryBytes = a.row.machine.footprint()
		r.Mechanisms = append(r.Mechanisms, a.row)
	}
	if in.Measure > 0 {
		if err := r.measureAll(in.Measure); err != nil {
			return nil, err
		}
	}
	r.sort()
	if d.Precision != nil {
		if err := r.numbers(in); err != nil {
			return nil, err
		}
	}
	r.warn(in)
	r.publish(in)
	r.streams(in)
	r.Ceiling = in.ceiling()
	return r, nil
}

// answer is a mechanism's row, or the reason why the mechanism has no row.
type answer struct {
	row    Mechanism
	reason string
	err    error
}

func (r *Report) answer(in Input, v variant) answer {
	candidate, note, reason := in.candidate(v)
	if reason != "" {
		return answer{reason: reason}
	}
	m, err := open(candidate)
	if err != nil {
		return answer{err: err}
	}
	row, err := r.row(m, note, in.Operator)
	return answer{row: row, err: err}
}

// measureAll divides the time among the mechanisms and measures each.
func (r *Report) measureAll(limit time.Duration) error {
	for i := range r.Mechanisms {
		row := &r.Mechanisms[i]
		start := time.Now()
		took, err := row.machine.measure(limit/time.Duration(len(r.Mechanisms)),
			func() time.Duration { return time.Since(start) })
		if err != nil {
			return err
		}
		row.Cost.Nanoseconds = took
	}
	return nil
}

// about fills in the figures of the setting that follow from the configured mechanism.
func (r *Report) about(m *machine) {
	r.Setting.Unit = m.guarantee.Unit.Name()
	r.Setting.Sensitivity, r.Setting.LatticeUnits, r.Setting.LatticeUnit = m.sensitivity(), m.lattice(),
		m.calibration.Grid.Unit()
	r.Optimum.Mu, r.Optimum.RMSCoordinate, r.Optimum.RMSVector = digits.None, digits.None, digits.None
	if m.config.Budget.Delta > 0 && r.Optimum.Factor.Known() {
		mu := dp.GaussianMu(m.config.Budget)
		r.Optimum.Mu = digits.Number(mu)
		r.Optimum.RMSCoordinate = digits.Number(math.Sqrt(float64(r.Optimum.Factor)) * m.sensitivity() / mu)
		r.Optimum.RMSVector = r.Optimum.RMSCoordinate * digits.Number(math.Sqrt(float64(m.config.Dimension())))
		if m.several() { // the error of each component exceeds the component's minimum by the same factor
			mean, _ := m.rms()
			r.Optimum.RMSCoordinate = digits.Number(mean / math.Sqrt(m.overLeast()/float64(r.Optimum.Factor)))
			r.Optimum.RMSVector = r.Optimum.RMSCoordinate * digits.Number(math.Sqrt(float64(m.config.Dimension())))
		}
	}
}

// row describes a mechanism.
func (r *Report) row(m *machine, note string, o operators.Operator) (Mechanism, error) {
	figures, same := m.config.Scope.Figures(), decays(m.config.Scope) == decays(r.Setting.terms.Scope)
	_, several := m.config.Unit.EventSeparation()
	mean, worst := m.rms()
	root := math.Sqrt(float64(m.config.Dimension()))
	row := Mechanism{
		Name: m.config.Name, Note: note,
		Configured: m.config.Name == r.Setting.Mechanism && same,
		Window:     figures.Window, Memory: figures.Memory, Poles: m.poles(),
		NoiseScale: m.scale(), RMSCoordinate: mean, WorstCoordinate: worst, RMSVector: mean * root, WorstVector: worst * root,
		OverOptimum: digits.None,
		Mu:          digits.None, Epsilon: digits.Number(m.guarantee.Epsilon), EventEpsilon: digits.None,
		Delta:      m.guarantee.Delta,
		StateBytes: m.stream.StateLen(), Cost: m.cost(), machine: m,
	}
	if same { // the optimum is for one kind of sums, prefix sums or decaying sums
		row.OverOptimum = m.overOptimum(r.Optimum.Factor)
	}
	if m.several() {
		row.Components = m.components()
	}
	if m.guarantee.Mu > 0 {
		row.Mu = digits.Number(m.guarantee.Mu)
	}
	if several {
		event, err := m.calibration.EventGuarantee(m.config)
		if err != nil {
			return Mechanism{}, err
		}
		row.EventEpsilon = digits.Number(event.Epsilon)
	}
	for _, age := range r.Ages {
		loss := Loss{age.Steps, digits.Number(m.guarantee.At(age.Steps).Epsilon), digits.None}
		if several {
			loss.All = digits.Number(m.guarantee.AtAll(age.Steps).Epsilon)
		}
		row.Losses = append(row.Losses, loss)
	}
	r.decisions(&row, o)
	for _, k := range groups {
		row.Groups = append(row.Groups, Group{k, digits.Number(m.guarantee.Group(k).Epsilon)})
	}
	return row, nil
}

// sort puts the configured mechanism first, and the others in order of their error. Mechanisms that release no prefix
// sums come last.
func (r *Report) sort() {
	rank := func(m Mechanism) int {
		switch {
		case m.Configured:
			return 0
		case m.machine.once():
			return 2
		}
		return 1
	}
	slices.SortStableFunc(r.Mechanisms, func(a, b Mechanism) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.RMSCoordinate, b.RMSCoordinate))
	})
}

// day is a day in seconds. A window shorter than a day does not protect a person who has events every day.
const day = 86400

// warn adds warnings about settings that a careful user would change.
func (r *Report) warn(in Input) {
	r.Warnings = []string{}
	s := r.Setting
	if text := dp.DeltaWarning(r.Mechanisms[0].Delta, times(s.terms.Scope.BackgroundSteps(), s.Batch)); text != "" {
		r.Warnings = append(r.Warnings, text)
	}
	if s.WindowSeconds.Known() && float64(s.WindowSeconds) < day && !s.terms.Scope.ForLife() {
		steps := math.Ceil(day * in.Rate / float64(s.Batch))
		r.Warnings = append(r.Warnings, fmt.Sprintf("the window is %s, less than a day of traffic (%s steps): a large window is cheap",
			digits.Duration(float64(s.WindowSeconds)), digits.Count(uint64(min(steps, 1e18)))))
	}
	if s.users() && r.Mechanisms[0].machine.bothSigns() {
		r.Warnings = append(r.Warnings, "four poles at age weight 0 give this window a filter whose account of a user is "+
			"5 to 13 % above the user's loss: leave ORIEL_POLES at 0, or take ORIEL_AGE_WEIGHT=0.3")
	}
	if s.users() && decays(s.terms.Scope) {
		r.Warnings = append(r.Warnings, r.Mechanisms[0].machine.crowding()...)
	}
	r.warnOfNumbers()
	if !r.Mechanisms[0].Epsilon.Finite() {
		r.Warnings = append(r.Warnings, fmt.Sprintf("%s proves no finite ε at δ = %g with these settings", s.Mechanism,
			s.Delta))
	}
}
