package papers

import (
	"errors"
	"fmt"
	"math"
	"testing"

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
	if !facts.Normal() || facts.EachStep() {
		return nil, fmt.Errorf("baselines: mechanism %q: neither tree-gaussian nor blt", mechanism)
	}
	projection, err := convex.NewProjection(c.Set)
	if err != nil {
		return nil, err
	}
	n := c.Set.Dimension()
	rows := moments.Rows{Features: n, Label: moments.MaxLabel}
	window := c.Steps
	if facts.AtNodes() {
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
	p.stream.Close()
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

// wide returns PQFTL of twelve features, over one tree.
func wide(t *testing.T, epsilon float64, key byte) *PQFTL {
	t.Helper()
	c := config(t, "l2-ball", 12)
	c.Budget.Epsilon = epsilon
	p, err := NewPQFTL(c, "tree-gaussian", 2, [32]byte{key})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// axis returns a loss of which only the i-th feature is not zero.
func axis(i int, size, label float64) Loss {
	f := Loss{Features: make([]float64, 12), Label: label}
	f.Features[i] = size
	return f
}

// norm returns the ℓ2 norm of a − b in units of the noise of a number off the diagonal. The noise of numbers on the
// diagonal has twice the variance.
func norm(a, b moments.Symmetric) (norm float64) {
	for i := range a.Size {
		for k := range i + 1 {
			d := a.At(i, k) - b.At(i, k)
			if i == k {
				d /= math.Sqrt2
			}
			norm = math.Hypot(norm, d)
		}
	}
	return norm
}

// TestReleasesOfPQFTLMoveByTwo checks, with almost no noise, that an exchange of one loss moves the release of PQFTL by
// at most 2, however long the loss's features are, and that the worst pair of losses moves it by 2.
func TestReleasesOfPQFTLMoveByTwo(t *testing.T) {
	farthest := 0.0
	for _, pair := range [][2]Loss{
		{axis(0, 1, 2), axis(0, 1, -2)},
		{axis(0, 1e3, 1e6), axis(0, 1e3, -1e6)},
		{axis(0, 1e3, 1e6), axis(5, -7, -1e9)},
		{axis(0, 1, 2), axis(0, 0, 0)},
	} {
		both := [2]*PQFTL{wide(t, 1e12, 1), wide(t, 1e12, 1)}
		for i := range 5 {
			for k, p := range both {
				f := axis(i, 1, 1)
				if i == 2 {
					f = pair[k]
				}
				p.Step(f)
			}
			rows := both[0].rows
			far := norm(rows.Block(both[0].stream.Sum(0), 0), rows.Block(both[1].stream.Sum(0), 0))
			if i < 2 && far > 1e-3 || far > 2+1e-3 {
				t.Fatalf("%+v, step %d: releases are %g apart, at most 2", pair, i+1, far)
			}
			farthest = max(farthest, far)
		}
	}
	if farthest < 2-1e-3 {
		t.Errorf("releases are never farther apart than %g", farthest)
	}
}

// TestNoiseOfPQFTL checks that the noise of a node of PQFTL's tree is 2√h/m, where h = 9 nodes cover each of the 256
// contributions, and the budget's guarantee is m-GDP. The variance of 40 draws of 91 numbers has a relative standard
// error of √(2/3640); the test allows 6.11 times as much.
func TestNoiseOfPQFTL(t *testing.T) {
	const h, draws, size = 9, 40, 13 * 14 / 2
	node := 2 * math.Sqrt(h) / dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6})
	sum := 0.0
	for key := range draws {
		p := wide(t, 1, byte(key))
		p.Step(axis(0, 0, 0))
		zero := moments.Symmetric{Size: 13, Values: make([]float64, size)}
		z := norm(p.rows.Block(p.stream.Sum(0), 0), zero) / node
		sum += z * z / (draws * size)
	}
	if z := (sum - 1) / math.Sqrt(2.0/(draws*size)); math.Abs(z) > 6.11 {
		t.Errorf("noise of a node has %g of its variance", sum)
	}
}
