package aggregate

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/aggregate/dimension"
	"oriel/operators/aggregate/trial"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

// operator implements operators.Operator.
type operator struct {
	spec       specification
	terms      protection.Terms // who is protected, and for how long
	memories   []uint64         // memory of each view; a single 0 stands for the sums that the stream releases
	perStep    bool             // each step is released separately
	increments bool
	every      uint64
	exact      bool         // the noise is so small that sums are nearly exact
	test       *trial.Trial // nil: no experiment
}

var (
	_ operators.Descriptive = operator{}
	_ operators.Reporter    = operator{}
	_ operators.Testing     = operator{}
	_ operators.Thinning    = operator{}
	_ operators.Audited     = operator{}
)

func (c operator) Extras() []decision.Extra { return c.members().Extras() }

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
		i := slices.IndexFunc(c.spec.dimensions, func(d dimension.Dimension) bool { return d.Name == c.spec.arms })
		d.Arms = &compared{c.spec.arms, c.spec.dimensions[i].Label(0), of, c.spec.differenceLabels()}
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
		if _, err := c.read(params); err != nil {
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
func (c operator) canonical() string { return c.spec.canonical() + c.test.Canonical() }

var errPlan = errors.New("aggregate: plan: not that of this specification")

// read returns the operator with the experiments that a plan adds to those of the settings. It refuses a plan of other
// settings.
func (c operator) read(params []byte) (operator, error) {
	if len(params) == 0 || params[0] != c.kind() {
		return c, errPlan
	}
	lines, ok := strings.CutPrefix(string(params[1:]), c.canonical())
	if ok && lines != "" {
		if c.test != nil {
			c.test, ok = c.test.Append(lines)
		} else {
			ok = false
		}
	}
	if !ok {
		return c, errPlan
	}
	return c, nil
}

func (c operator) Open(params []byte, sums *mechanisms.Stream) (operators.Machine, error) {
	c, err := c.read(params)
	if err != nil {
		return nil, err
	}
	return newMachine(c, sums)
}

func (c operator) EmitAll() operators.Operator {
	c.every = 1
	return c
}

func (c operator) ReferenceModel(params []byte) (operators.ReferenceModel, error) {
	_, err := c.read(params)
	return newReference(c.spec), err
}

// Experiment describes the members of an experiment.
func (c operator) Experiment() *operators.Experiment {
	if c.test == nil {
		return nil
	}
	x := c.test.Experiment()
	x.Assigned = func(e event.Event) (arm int, outcome float64) {
		cell, ok := c.spec.cell(e.Numbers)
		if !ok || cell < 0 || cell >= c.spec.product() {
			return -1, 0
		}
		of := c.spec.comparison()
		return cell / of.stride % of.arms, within(e.Numbers[len(e.Numbers)-1], c.spec.low, c.spec.high)
	}
	return x
}

// Power returns operators.Testing's Power.
func (c operator) Power(law mechanisms.NoiseLaw, batch uint64, aim operators.Aim) (*operators.Power, error) {
	return c.test.Power(law, batch, aim)
}

// Turns returns operators.Testing's Turns.
func (c operator) Turns(params []byte) (steps []uint64, err error) {
	if c, err = c.read(params); err != nil {
		return nil, err
	}
	return c.test.Turns(), nil
}

// Next returns operators.Testing's Next.
func (c operator) Next(params []byte, step, announced uint64) ([]byte, error) {
	c, err := c.read(params)
	if err != nil {
		return nil, err
	}
	return c.test.Next(step, announced)
}

// Wider returns operators.Testing's Wider.
func (c operator) Wider(law mechanisms.NoiseLaw, batch, step, announced uint64) float64 {
	return c.test.Wider(law, batch, step, announced)
}
