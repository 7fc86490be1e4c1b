package coco

import (
	"fmt"

	"oriel/operators/convex"
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
	search    *convex.Search // the steps of SPEC.md §6.1; nil unless constants are search
}

func newLocal(c Config, o *objective, batch uint64, bound, cw float64) (*local, error) {
	oracle, err := newOracle(c)
	if err != nil {
		return nil, fmt.Errorf("coco: update llo: %w", err)
	}
	u := &local{
		objective: o,
		set:       c.Set,
		constants: newConstants(c, o, oracle.Ratio(), batch, bound, cw),
		oracle:    oracle,
		first:     make([]float64, c.Set.Dimension()),
		slope:     make([]float64, c.Set.Dimension()),
	}
	copy(u.first, oracle.Point())
	if c.Constants == Search {
		u.constants.anchor = 0
		u.search = convex.NewSearch(c.Set, oracle)
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
		oracle, err := newOracle(c)
		if err != nil {
			panic("BUG: coco: the oracle of a set that was not validated: " + err.Error())
		}
		if past.Point != nil {
			convex.Begin(c.Set, oracle, past.Point)
		}
		copy(dst, oracle.Point())
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
func (u *local) begin(x []float64) { convex.Begin(u.set, u.oracle, x) }

func (u *local) AppendState(dst []byte) []byte { return u.oracle.AppendState(dst) }

func (u *local) StateLen() int { return u.oracle.StateLen() }

func (u *local) Restore(state []byte) error { return u.oracle.Restore(state) }
