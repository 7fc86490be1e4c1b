package convex

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

// minRadius and maxRadius keep every product of a radius with a cost far from overflow and underflow.
const minRadius, maxRadius = 1e-15, 1e15
