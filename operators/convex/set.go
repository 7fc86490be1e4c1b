package convex

import (
	"errors"
	"fmt"

	"oriel/operators/convex/shape"
)

// Set is a bounded convex set with a public starting point, which is its point of least norm, except for flows and
// trees.
type Set interface {
	Name() string
	Dimension() int
	Diameter() float64   // D, the largest |x−y|₂
	MaxNorm() float64    // largest norm |x|₂ of a point
	Start(dst []float64) // writes the starting point x_1
}

// Projection maps a point to the nearest point of a set. dst and x may be the same slice.
type Projection interface {
	Project(dst, x []float64)
}

// LinearOracle writes to dst a point of the set that minimises ⟨c, ·⟩. If the set has vertices, the point is one. dst
// and c must not overlap.
type LinearOracle interface {
	Minimise(dst, c []float64)
}

// LocalOracle moves a point x of a polytope towards the local minimisers of linear costs. A new LocalOracle is at the
// set's start.
type LocalOracle interface {
	Point() []float64 // x, valid until the next Move or Restore; callers must not modify it
	Ratio() float64   // ρ ≥ 1 of the contract of Move

	// Move finds p with ⟨p, c⟩ ≤ ⟨y, c⟩ for every y of the set with |x−y| ≤ r, and |x−p| ≤ ρ·r. Then it sets x ← (1−α)x
	// + αp. It costs one linear minimisation over the set. r ≥ 0, α in (0, 1].
	Move(alpha, r float64, c []float64)

	// AppendState appends everything that determines x and later moves. It always appends StateLen bytes.
	AppendState(dst []byte) []byte
	StateLen() int

	// Restore accepts only states that AppendState can have written: finite and feasible. After an error nothing has
	// changed.
	Restore(state []byte) error
}

// Toward is a LocalOracle that can move towards a known point v of the set: x ← (1−α)x + αv.
type Toward interface {
	LocalOracle
	Toward(alpha float64, v []float64)
}

// Tangent is the tangent space of a set: the directions in which it extends, the linear part of its affine hull.
// Components of a cost c in its orthogonal complement change no decision, because ⟨c, x⟩ is then constant on the set. A
// Tangent owns scratch space, so that each machine must have its own.
type Tangent interface {
	Dimension() int      // dimension of the space, 0 for a set of one point
	Project(v []float64) // projects v orthogonally and in place, without allocations
}

// NewProjection returns a projection with its own scratch space, for one machine.
func NewProjection(s Set) (Projection, error) {
	if p, ok := s.(interface{ Projection() Projection }); ok {
		return p.Projection(), nil
	}
	return nil, fmt.Errorf("convex: set %s: has no projection that is cheap (llo works)", s.Name())
}

// NewLocalOracle returns a local oracle with its own memory, for one machine. It returns an error for the ℓ2 ball. For
// a set that is followed (oracle.Followed), the oracle moves towards the linear minimiser for every radius.
func NewLocalOracle(s Set) (LocalOracle, error) {
	if s, ok := s.(interface{ LocalOracle() LocalOracle }); ok {
		return s.LocalOracle(), nil
	}
	return nil, fmt.Errorf("convex: set %s: no polytope, so it has no local linear oracle (projection works)", s.Name())
}

// NewLinearOracle returns a linear oracle with its own memory, for one machine.
func NewLinearOracle(s Set) LinearOracle {
	if p, ok := s.(interface{ Linear() LinearOracle }); ok {
		return p.Linear()
	}
	return s.(LinearOracle)
}

// Settle corrects a point that rounding has moved off its set, by a change of about the size of the rounding. It
// restores sums to their values on the set, and coordinates to their ranges.
func Settle(s Set, x []float64) {
	if s, ok := s.(interface{ Settle(x []float64) }); ok {
		s.Settle(x)
	}
}

// NewTangent returns the tangent space of a set. It returns an error for a flow or vertices if a projection would be
// too expensive for each event.
func NewTangent(s Set) (Tangent, error) {
	if t, ok := s.(interface{ Tangent() (Tangent, error) }); ok {
		return t.Tangent()
	}
	return shape.Full(s.Dimension()), nil
}

// CoarseTangent returns a space that contains the tangent space and is cheap for every set. For flows and vertices it
// has all directions, and for trees the directions in which the sum of all edges is 0. For other sets it is the tangent
// space.
func CoarseTangent(s Set) Tangent {
	if s, ok := s.(interface{ Coarse() Tangent }); ok {
		return s.Coarse()
	}
	t, err := NewTangent(s)
	if err != nil {
		panic("BUG: convex: the tangent space of " + s.Name() + ": " + err.Error())
	}
	return t
}

// Inner writes the centre of a ball of the set's own dimension that lies in the set, and returns its radius. The ball
// is the largest one about its centre, except for trees and vertices, because their faces are not known.
//
// A face ⟨a, x⟩ ≤ b is at distance (b − ⟨a, c⟩)/|Pa| from a centre c, where P is the projection onto the set's tangent
// space. A ball that reaches no face is in the set. If faces are bounds of coordinates, |Pe_i|² is 1 − 1/n for vectors
// with a fixed sum, and (1 − 1/k)² for the k × k matrices with fixed row and column sums.
func Inner(s Set, centre []float64) (radius float64, err error) {
	s.Start(centre)
	if b, ok := s.(interface {
		Inner([]float64) (float64, error)
	}); ok {
		return b.Inner(centre)
	}
	return 0, errors.New("convex: set " + s.Name() + ": no ball in it is known")
}
