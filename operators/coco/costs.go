package coco

import (
	"slices"

	"oriel/mechanisms/lattice"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/loss"
)

// Costs describes the costs of the linear loss under a new plan. It returns nil for other losses.
func (c operator) Costs() *operators.Costs {
	if _, linear := c.Loss.(loss.Linear); !linear {
		return nil
	}
	tangent, err := Params{FullTangent: c.knowsMore()}.tangent(c.Set)
	if err != nil {
		return nil
	}
	n := c.Set.Dimension()
	ones := slices.Repeat([]float64{1}, n)
	tangent.Project(ones)
	costs := &operators.Costs{Coordinates: n, Directions: tangent.Dimension(), Ones: lattice.Norm(ones)}
	if _, err := convex.NewTangent(c.Set); err != nil {
		costs.Reason = err.Error()
	}
	return costs
}
