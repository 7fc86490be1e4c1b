package aggregate

import (
	"encoding/json"
	"errors"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/schemas/decision"
)

// operator implements operators.Operator.
type operator struct {
	spec       specification
	terms      protection.Terms // who is protected, and for how long
	memories   []uint64         // memory of each view; a single 0 stands for the sums that the stream releases
	perStep    bool             // each step is released separately
	increments bool
	every      uint64
	exact      bool // the noise is so small that sums are nearly exact
	test       *tested
}

var (
	_ operators.Descriptive = operator{}
	_ operators.Reporter    = operator{}
	_ operators.Testing     = operator{}
	_ operators.Thinning    = operator{}
	_ operators.Audited     = operator{}
)

// Extras returns the members: the noise of a count and of a sum at each view; intervals of means and variances; with a
// memory, the memory; and increments with the noise of their sums, where they are asked for.
func (c operator) Extras() []decision.Extra {
	extras := []decision.Extra{{
		Name: "count_deviation", Kind: decision.ExtraNumbers, Text: "Standard deviation of the noise of a count, by view.",
	}}
	if c.spec.weights.Mean > 0 {
		extras = append(extras, decision.Extra{
			Name: "sum_deviation", Kind: decision.ExtraNumbers, Text: "Standard deviation of the noise of a sum of values, by view.",
		})
	}
	extras = append(extras, c.spec.intervalExtras()...)
	extras = append(extras, c.spec.differenceExtras()...)
	extras = append(extras, decision.Extra{
		Name: "shown", Kind: decision.ExtraNumbers,
		Text: "1 for each number that is more than noise, else 0: of a ratio, whether the count below it exceeds 12 standard deviations " +
			"of its noise. The numbers of decision in their order, and behind them those of differences.",
	})
	extras = append(extras, c.testExtras()...)
	extras = append(extras, operators.LifetimeMembers(c.terms)...)
	if c.increments {
		extras = append(extras, decision.Extra{
			Name: "increments", Kind: decision.ExtraNumbers, Text: "Sum of the increments since the decision before: by column, then cell; of bins, running counts.",
		}, decision.Extra{
			Name: "window_deviation", Kind: decision.ExtraNumbers,
			Text: "Standard deviation of the noise in a sum of the last 1, 2, 4, … steps' increments of a count; between two lengths straight in " +
				"logarithms of both, to a per cent; of other columns times increment_deviations of the descriptor.",
		}, decision.Extra{
			Name: "increment_filter", Kind: decision.ExtraNumbers,
			Text: "What the noise of increments follows from exactly: P, steps between two resets, then poles q, then residues R, in units of " +
				"2⁻³⁰. Increment t has e_j of the draw of step t − j of its block: e_0 = 1, e_j = −Σ R·q^(j−1).",
		})
	}
	return extras
}

// descriptor names the contents of decisions.
type descriptor struct {
	Cells      []string       `json:"cells"`
	Statistics []string       `json:"statistics"`
	Views      []view         `json:"views"`
	Order      string         `json:"order"`
	Value      *public        `json:"value,omitempty"`
	Bins       int            `json:"bins,omitempty"`
	Arms       *compared      `json:"arms,omitempty"`
	Increments []string       `json:"increments,omitempty"`
	Deviations []float64      `json:"increment_deviations,omitempty"`
	Weights    map[string]any `json:"weights"`
	EmitEvery  uint64         `json:"emit_every"`

	Experiment *operators.Experiment `json:"experiment,omitempty"`
}

type view struct {
	Memory uint64 `json:"memory,omitempty"` // in steps
	Of     string `json:"of"`
}

type public struct {
	Column string  `json:"column"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// compared names the cells whose differences are published; each is compared with the same cell of the control.
type compared struct {
	Dimension   string   `json:"dimension"`
	Control     string   `json:"control"`
	Of          []string `json:"of"`
	Differences []string `json:"differences"`
}

// Descriptor names the cells, statistics and views of a decision's numbers.
func (c operator) Descriptor() []byte {
	d := descriptor{
		Cells: c.spec.labels(), Statistics: c.spec.statistics, Order: "view, then statistic, then cell", EmitEvery: c.every,
		Weights: map[string]any{}, Bins: c.spec.weights.Bins, Experiment: c.Experiment(),
	}
	for _, column := range []struct {
		name   string
		weight float64
	}{
		{count, c.spec.weights.Count}, {sum, c.spec.weights.Mean}, {squares, c.spec.weights.Square}, {
			"bins",
			c.spec.weights.Quantile,
		},
	} {
		if column.weight > 0 {
			d.Weights[column.name] = column.weight
		}
	}
	for _, memory := range c.memories {
		v := view{Memory: memory, Of: "steps, decayed by 1 − 1/memory a step"}
		switch {
		case c.perStep:
			v.Of = "the events of the step"
		case memory == 0:
			v.Of = "all events since the start"
		}
		d.Views = append(d.Views, v)
	}
	if c.spec.value != "" {
		d.Value = &public{c.spec.value, c.spec.low, c.spec.high}
	}
	if of := c.spec.compared(); of != nil {
		i := slices.IndexFunc(c.spec.dimensions, func(d dimension) bool { return d.name == c.spec.arms })
		d.Arms = &compared{c.spec.arms, c.spec.dimensions[i].label(0), of, c.spec.differenceLabels()}
	}
	if c.increments {
		d.Increments, d.Deviations = c.spec.columns(), c.spec.columnDeviations()
	}
	text, err := json.Marshal(d)
	if err != nil {
		panic("BUG: aggregate: descriptor: " + err.Error())
	}
	return text
}

// Require sets the contribution that the mechanism must release.
func (c operator) Require(m *mechanisms.Config, params []byte) error {
	if params != nil {
		if err := c.checkPlan(params); err != nil {
			return err
		}
	}
	part := c.spec.hot().Component()
	part.Name = "cells"
	m.Contribution = contribution.Contribution{Components: []contribution.Component{part}}
	if c.spec.cells() > 2 {
		m.Contribution.Nonzero = c.spec.width() // two contributions differ in at most twice as many coordinates
	}
	return nil
}

// These are the kinds of plans. The kind is the plan's first byte, and the specification follows as text.
const (
	planOfSums       = 4
	planOfIncrements = 5 // decisions have increments
	planOfTurns      = 6 // with an experiment: Next may append lines with further first steps while the stream runs
)

// Params returns the specification. The configuration holds only its digest.
func (c operator) Params(mechanisms.Config) ([]byte, error) {
	return append([]byte{c.kind()}, c.canonical()...), nil
}

// kind returns the first byte of a plan.
func (c operator) kind() byte {
	switch {
	case c.test != nil:
		return planOfTurns
	case c.increments:
		return planOfIncrements
	}
	return planOfSums
}

// canonical returns the text of a plan: the specification and the experiment.
func (c operator) canonical() string { return c.spec.canonical() + c.test.canonical() }

var errPlan = errors.New("aggregate: plan: not that of this specification")

func (c operator) checkPlan(params []byte) error {
	_, _, err := c.added(params)
	return err
}

func (c operator) Open(params []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	starts, announced, err := c.added(params)
	if err != nil {
		return nil, err
	}
	if len(starts) > 0 {
		c = c.then(starts, announced)
	}
	return newMachine(c, sums)
}

func (c operator) EmitAll() operators.Operator {
	c.every = 1
	return c
}

func (c operator) ReferenceModel(params []byte) (operators.ReferenceModel, error) {
	return newReference(c.spec), c.checkPlan(params)
}
