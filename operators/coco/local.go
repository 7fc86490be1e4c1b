package coco

import (
	"fmt"
	"math"

	"oriel/operators/convex"
	"oriel/operators/convex/oracle"
)

// local is Algorithm 2: in each step the local oracle makes one move along ∇Ĵ_t(x_t), where Ĵ_t has the anchor
// (µBC_0/2)|x − x_1|². With constants search it makes a step of the conditional gradient method without the anchor.
type local struct {
	objective *objective
	constants constants
	set       convex.Set
	oracle    convex.LocalOracle
	first     []float64      // x_1, the first decision
	slope     []float64      // c, the gradient of Ĵ_t at x_t
	search    *oracle.Search // the steps of SPEC.md §6.1; nil unless constants are search
}

func newLocal(c Config, o *objective, batch uint64, bound float64) (*local, error) {
	moves, err := newOracle(c)
	if err != nil {
		return nil, fmt.Errorf("coco: update llo: %w", err)
	}
	u := &local{
		objective: o,
		set:       c.Set,
		constants: newConstants(c, o, moves.Ratio(), batch, bound),
		oracle:    moves,
		first:     make([]float64, c.Set.Dimension()),
		slope:     make([]float64, c.Set.Dimension()),
	}
	copy(u.first, moves.Point())
	if c.Constants == Search {
		u.constants.anchor = 0
		u.search = oracle.NewSearch(c.Set, moves)
	}
	return u, nil
}

// newOracle returns a local oracle at x_1. With First = Vertex, x_1 is the vertex v that the linear oracle returns for
// zero costs. The local oracle reaches v by a move along costs −v.
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

// start writes x_1. A stream that continues an earlier one starts at the point of past.
func (c Config) start(dst []float64, past Inherited) {
	c.Set.Start(dst)
	switch {
	case c.Update == LLO && (c.First == Vertex || past.Point != nil):
		moves, err := newOracle(c)
		if err != nil {
			panic("BUG: coco: the oracle of a set that was not validated: " + err.Error())
		}
		if past.Point != nil {
			oracle.Begin(c.Set, moves, past.Point)
		}
		copy(dst, moves.Point())
	default:
		copy(dst, past.Point)
	}
}

func (u *local) point() []float64 { return u.oracle.Point() }

// step takes c = ∇Ĵ_t(x_t) = ĝ_t − µB·S + (µBt + λ_0)x_t + µBC_0(x_t − x_1). This is line 7 of the algorithm with the
// correct sign, and with the term in x_t that the paper omits.
func (u *local) step(t uint64, sum []float64) {
	u.objective.pull(t, u.slope, sum)
	curvature, x := u.objective.curvature(t), u.oracle.Point()
	for i, pull := range u.slope {
		u.slope[i] = float64(curvature*x[i]) + float64(u.constants.anchor*(x[i]-u.first[i])) - pull
	}
	if u.search != nil {
		u.search.Step(u.slope, curvature)
		return
	}
	u.oracle.Move(u.constants.alpha, u.constants.radius(t), u.slope)
}

// begin moves the oracle to a point of the set.
func (u *local) begin(x []float64) { oracle.Begin(u.set, u.oracle, x) }

func (u *local) AppendState(dst []byte) []byte { return u.oracle.AppendState(dst) }

func (u *local) StateLen() int { return u.oracle.StateLen() }

func (u *local) Restore(state []byte) error { return u.oracle.Restore(state) }

// constants holds the constants of Algorithm 2 for a step of B events. They are computed with +, −, ·, / and square
// roots only, so that they are equal on every machine. ε_t = C_1²/b_t appears only in √(2ε_t/b_t) = √2·C_1/b_t.
type constants struct {
	alpha     float64 // the step length α = 1/(2ρ²)
	anchor    float64 // µB·C_0 with C_0 = 25ρ², the strength of the anchor at x_1
	gradient  float64 // BG, the bound on the gradient of a step
	reach     float64 // C_1, which bounds the error ε_t = C_1²/b_t
	objective *objective
}

// newConstants computes the constants from ρ = ratio, B = batch and E = bound. C_1 = 10(ρ²·BG + ρE) is proved for any B
// (SPEC.md §11 with a step as the round).
func newConstants(c Config, o *objective, ratio float64, batch uint64, bound float64) constants {
	square := float64(ratio * ratio)
	gradient := float64(float64(batch) * c.GradientBound())
	return constants{
		alpha:     1 / (2 * square),
		anchor:    float64(o.convexity * 25 * square),
		gradient:  gradient,
		reach:     float64(10 * (float64(square*gradient) + float64(ratio*bound))),
		objective: o,
	}
}

// curvature returns b_t = µB(t + C_0) + λ_0, the strong convexity of Ĵ_t including its anchor at x_1. λ_0 has the
// effect of a larger C_0.
func (k *constants) curvature(t uint64) float64 { return k.objective.curvature(t) + k.anchor }

// radius returns r_t = √(2ε_{t−1}/b_{t−1}) + 2BG/b_t, without the first term at t = 1. The paper prints t as the index
// in the first term. The index must be t−1, because the proof bounds |x_t − z_t| by the error ε_{t−1} that step t−1 has
// left.
func (k *constants) radius(t uint64) float64 {
	r := 2 * k.gradient / k.curvature(t)
	if t > 1 {
		r += float64(math.Sqrt(2)*k.reach) / k.curvature(t-1)
	}
	return r
}
