package aggregate

import (
	"encoding/binary"
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
	period     *period      // nil: events are counted, and not persons
}

var (
	_ operators.Descriptive = operator{}
	_ operators.Reporter    = operator{}
	_ operators.Testing     = operator{}
	_ operators.Thinning    = operator{}
	_ operators.Audited     = operator{}
	_ operators.Distinct    = operator{}
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
	Period     *period        `json:"person_period,omitempty"`

	Experiment *operators.Experiment `json:"experiment,omitempty"`
}

// period says how persons are counted: once in each of their first PersonCells cells in a period. Periods begin at the
// multiples of Seconds since the Unix epoch, plus Offset.
type period struct {
	Seconds     int64  `json:"seconds"`
	Offset      int64  `json:"offset"`
	PersonCells uint64 `json:"cells"`
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
		Period: c.period,
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
		case c.period != nil:
			v.Of = "the persons who are new in the step, in their period"
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

// Value returns the number of an event's cell.
func (c operator) Value(dst []byte, e event.Event) (value []byte, has bool) {
	cell, has := c.spec.cellOf(e)
	return binary.LittleEndian.AppendUint32(dst, uint32(cell)), has
}

// Require sets the contribution that the mechanism must release.
func (c operator) Require(m *mechanisms.Config, params []byte) error {
	if params != nil {
		if _, err := c.read(params); err != nil {
			return err
		}
	}
	facts, _ := mechanisms.FactsOf(m.Name)
	c.spec.under(facts)
	part := c.spec.hot().Component()
	part.Name = "cells"
	m.Contribution = contribution.Contribution{Components: []contribution.Component{part}}
	if c.spec.cells() > 2 {
		m.Contribution.Nonzero = c.spec.width() // two contributions differ in at most twice as many coordinates
	}
	return nil
}

// paramsVersion is the first byte of params. The specification follows as text, and with an experiment a line for each
// first step that Next has appended while the stream runs.
const paramsVersion = 1

// Params returns the specification. The configuration holds only its digest.
func (c operator) Params(mechanisms.Config) ([]byte, error) {
	return append([]byte{paramsVersion}, c.canonical()...), nil
}

// canonical returns the text of params: the specification and the experiment.
func (c operator) canonical() string { return c.spec.canonical() + c.test.Canonical() }

var errParams = errors.New("aggregate: params: not of this specification")

// read returns the operator with the experiments that params add to the settings'. It refuses params of other
// settings.
func (c operator) read(params []byte) (operator, error) {
	lines, ok := strings.CutPrefix(string(params), string(rune(paramsVersion))+c.canonical())
	if ok && lines != "" {
		if c.test == nil {
			return c, errParams
		}
		c.test, ok = c.test.Append(lines)
	}
	if !ok {
		return c, errParams
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
	return c.test.Experiment()
}

// Power returns operators.Testing's Power.
func (c operator) Power(law mechanisms.NoiseLaw, batch uint64, aim operators.Aim) (*operators.Power, error) {
	return c.test.Power(law, batch, aim)
}

// Turns returns operators.Testing's Turns.
func (c operator) Starts(params []byte) (steps []uint64, err error) {
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
