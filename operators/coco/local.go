package coco

import (
	"fmt"

	"oriel/operators/convex"
)

// local is Algorithm 2: one move of the local oracle along ∇Ĵ_t(x_t) a step, with the anchor (µBC_0/2)|x − x_1|² in
// Ĵ_t; or, where the step is searched for, a step of the conditional gradient method without the anchor.
type local struct {
	objective *objective
	constants constants
	oracle    convex.LocalOracle
	first     []float64 // x_1
	slope     []float64 // c

	// Of Search alone.
	linear convex.LinearOracle
	vertex []float64 // v, the linear minimiser
	reach  float64   // D: within it are all points, so that a move goes towards v
}

func newLocal(c Config, o *objective, batch uint64, bound, cw float64) (*local, error) {
	oracle, err := newOracle(c)
	if err != nil {
		return nil, fmt.Errorf("coco: update llo: %w", err)
	}
	u := &local{
		objective: o,
		constants: newConstants(c, o, oracle.Ratio(), batch, bound, cw),
		oracle:    oracle,
		first:     make([]float64, c.Set.Dimension()),
		slope:     make([]float64, c.Set.Dimension()),
	}
	copy(u.first, oracle.Point())
	if c.Constants == Search {
		u.constants.anchor = 0
		u.linear, u.vertex, u.reach = convex.NewLinearOracle(c.Set), make([]float64, c.Set.Dimension()), c.Set.Diameter()
	}
	return u, nil
}

// newOracle is a local oracle at x_1. Where that is a vertex v, it is the least one of no costs, by the rule of ties,
// and a move by costs −v ends there.
func newOracle(c Config) (convex.LocalOracle, error) {
	oracle, err := convex.NewLocalOracle(c.Set)
	if err != nil || c.First != Vertex {
		return oracle, err
	}
	costs, vertex := make([]float64, c.Set.Dimension()), make([]float64, c.Set.Dimension())
	convex.NewLinearOracle(c.Set).Minimise(vertex, costs)
	if o, ok := oracle.(convex.Toward); ok {
		o.Toward(1, vertex)
		return oracle, nil
	}
	for i, v := range vertex {
		costs[i] = -v
	}
	oracle.Move(1, c.Set.Diameter(), costs)
	return oracle, nil
}

// start writes x_1.
func (c Config) start(dst []float64) {
	c.Set.Start(dst)
	if c.First == Vertex {
		oracle, err := newOracle(c)
		if err != nil {
			panic("BUG: coco: a vertex of a set that was not validated: " + err.Error())
		}
		copy(dst, oracle.Point())
	}
}

func (u *local) point() []float64 { return u.oracle.Point() }

// step takes c = ∇Ĵ_t(x_t) = ĝ_t − µB·S + (µBt + λ_0)x_t + µBC_0(x_t − x_1): line 7 with the sign and the x_t term that
// the printed one lacks.
func (u *local) step(t uint64, sum []float64) {
	u.objective.pull(t, u.slope, sum)
	curvature, x := u.objective.curvature(t), u.oracle.Point()
	for i, pull := range u.slope {
		u.slope[i] = float64(curvature*x[i]) + float64(u.constants.anchor*(x[i]-u.first[i])) - pull
	}
	if u.linear != nil {
		u.search(curvature)
		return
	}
	u.oracle.Move(u.constants.alpha, u.constants.radius(t), u.slope)
}

// search moves to the least point of Ĵ_t on the way to v: Ĵ_t(x + γ(v−x)) = Ĵ_t(x) − γ⟨c, x−v⟩ + γ²b|v−x|²/2 with the
// curvature b, least at γ = ⟨c, x−v⟩/(b|v−x|²) or at 1 (Jaggi, Revisiting Frank-Wolfe, ICML 2013, algorithm 2).
func (u *local) search(curvature float64) {
	u.linear.Minimise(u.vertex, u.slope)
	gap, square := 0.0, 0.0
	for i, x := range u.oracle.Point() {
		away := x - u.vertex[i]
		gap += float64(u.slope[i] * away)
		square += float64(away * away)
	}
	if !(gap > 0 && square > 0) {
		return
	}
	share := min(1, gap/float64(curvature*square))
	if o, ok := u.oracle.(convex.Toward); ok {
		o.Toward(share, u.vertex)
		return
	}
	u.oracle.Move(share, u.reach, u.slope)
}

func (u *local) AppendState(dst []byte) []byte { return u.oracle.AppendState(dst) }

func (u *local) StateLen() int { return u.oracle.StateLen() }

func (u *local) Restore(state []byte) error { return u.oracle.Restore(state) }
