package baselines

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators/convex"
	"oriel/operators/moments"
)

// PQFTL is follow-the-leader on private second moments.
type PQFTL struct {
	config     Config
	rows       moments.Rows
	label      float64
	projection convex.Projection
	stream     *mechanisms.Stream
	system     *moments.System
	edge       float64 // κ before its doubling

	row    []float64 // v and y/Y: features, and the label as a share of its bound
	played []float64 // x_t: newest decision
}

// NewPQFTL returns the algorithm before its first step. mechanism names the noise, tree-gaussian or blt: one tree, or
// one filter, of the whole run. PQFTL enforces |v| ≤ 1 and |y| ≤ label by scaling longer ones down. It does not use the
// clip, because second moments are bounded instead. The key determines the noise.
func NewPQFTL(c Config, mechanism string, label float64, key [32]byte) (*PQFTL, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if !(label > 0) {
		return nil, fmt.Errorf("baselines: label %g: not positive", label)
	}
	facts, _ := mechanisms.FactsOf(mechanism)
	if facts.Law != mechanisms.Gaussian || facts.Structure == mechanisms.PerStep {
		return nil, fmt.Errorf("baselines: mechanism %q: neither tree-gaussian nor blt", mechanism)
	}
	projection, err := convex.NewProjection(c.Set)
	if err != nil {
		return nil, err
	}
	n := c.Set.Dimension()
	rows := moments.Rows{Features: n, Label: moments.MaxLabel}
	window := c.Steps
	if facts.Structure == mechanisms.Tree {
		for window = 1; window < c.Steps; window *= 2 {
		}
	}
	m := mechanisms.Config{
		Name: mechanism, Batch: 1,
		Contribution: contribution.Contribution{Components: []contribution.Component{rows.Component()}}, Budget: c.Budget,
		Terms: protection.Terms{
			Scope: protection.Lifetime{Steps: c.Steps, Within: window}, Unit: protection.Event{Exchange: dp.Replace},
		},
	}
	plan, errPlan := mechanisms.Calibrate(m)
	if err := errors.Join(rows.Validate(), errPlan); err != nil {
		return nil, err
	}
	stream, err := mechanisms.Open(m, plan, key)
	if err != nil {
		return nil, err
	}
	deviation, err := stream.Deviation(0, 0)
	if err != nil {
		return nil, err
	}
	p := &PQFTL{
		config: c, rows: rows, label: label, projection: projection, stream: stream, system: moments.NewSystem(n),
		edge: moments.Edge(n, deviation.Worst()), row: make([]float64, n+1), played: make([]float64, n),
	}
	c.Set.Start(p.played)
	return p, nil
}

// Point returns x_{t+1}. The slice belongs to the algorithm and is valid until the next step.
func (p *PQFTL) Point() []float64 { return p.played }

// Step takes f_t, which must have features. It panics after T steps.
func (p *PQFTL) Step(f Loss) {
	if f.Features == nil {
		panic("BUG: baselines: PQFTL learns from features and labels")
	}
	copy(p.row, f.Features)
	p.row[len(p.row)-1] = f.Label / p.label
	p.stream.Add(noise.Identity{Offset: int64(p.stream.Step()) + 1}, p.row)
	m := p.rows.Moments(p.stream.Sum(0), 0)
	m.Cross(p.played)
	floats.Scale(p.label, p.played)
	if !p.system.Factor(m.Symmetric, 1, p.edge, p.config.Convexity*float64(p.stream.Step())) {
		clear(p.played)
	} else {
		p.system.Solve(p.played, p.played)
	}
	p.projection.Project(p.played, p.played)
}
