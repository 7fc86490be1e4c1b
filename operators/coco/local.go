package coco

import (
	"fmt"

	"oriel/operators/convex"
)

// local is Algorithm 2: one move of the local oracle along ∇Ĵ_t(x_t) a step, with the anchor (µBC_0/2)|x − x_1|² in
// Ĵ_t.
type local struct {
	objective *objective
	constants constants
	oracle    convex.LocalOracle
	first     []float64 // x_1
	slope     []float64 // c
}

func newLocal(c Config, o *objective, batch uint64, bound, cw float64) (*local, error) {
	oracle, err := convex.NewLocalOracle(c.Set)
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
	return u, nil
}

func (u *local) point() []float64 { return u.oracle.Point() }

// step takes c = ∇Ĵ_t(x_t) = ĝ_t − µB·S + (µBt + λ_0)x_t + µBC_0(x_t − x_1): line 7 with the sign and the x_t term that
// the printed one lacks.
func (u *local) step(t uint64, sum []float64) {
	u.objective.pull(u.slope, sum)
	curvature, x := u.objective.curvature(t), u.oracle.Point()
	for i, pull := range u.slope {
		u.slope[i] = float64(curvature*x[i]) + float64(u.constants.anchor*(x[i]-u.first[i])) - pull
	}
	u.oracle.Move(u.constants.alpha, u.constants.radius(t), u.slope)
}

func (u *local) appendState(dst []byte) []byte { return u.oracle.AppendState(dst) }

func (u *local) stateLen() int { return u.oracle.StateLen() }

func (u *local) restore(state []byte) error { return u.oracle.Restore(state) }
