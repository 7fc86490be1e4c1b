package convex

import (
	"errors"
	"fmt"
	"strings"
)

// Set is a bounded convex set with a public starting point, which is its point of least norm, except for flows and
// trees.
type Set interface {
	Name() string
	Dimension() int
	Diameter() float64   // D, the largest |x−y|₂
	MaxNorm() float64    // the largest |x|₂
	Start(dst []float64) // x_1
}

// Projection maps a point to the nearest point of a set. dst and x may be the same slice.
type Projection interface {
	Project(dst, x []float64)
}

// LinearOracle writes to dst a point of the set, a vertex if it has any, that minimises ⟨c, ·⟩. dst and c must differ.
type LinearOracle interface {
	Minimise(dst, c []float64)
}

// LocalOracle moves a point x of a polytope towards the local minimisers of linear costs. A new one is at the set's
// start.
type LocalOracle interface {
	Point() []float64 // x, valid until the next Move or Restore; not to be modified
	Ratio() float64   // ρ ≥ 1

	// Move finds p with ⟨p, c⟩ ≤ ⟨y, c⟩ for every y of the set with |x−y| ≤ r, and |x−p| ≤ ρ·r. Then it sets x ← (1−α)x
	// + αp. It costs one linear minimisation over the set. r ≥ 0, α in (0, 1].
	Move(alpha, r float64, c []float64)

	// AppendState appends all that determines x and later moves, always StateLen bytes.
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

// Names lists the sets that Parse knows.
func Names() []string {
	return []string{
		"l2-ball", "l1-ball", "simplex", "box", "subsets", "flow", "matching", "vertices", "partition", "trees",
		"ranking", "spectrahedron", "trace-norm", "subsets-at-most", "partition-at-most", "forests",
	}
}

// The range of radii keeps every product of a radius with a cost far from overflow and underflow.
const minRadius, maxRadius = 1e-15, 1e15

// Spec describes a set, as in settings.
type Spec struct {
	Name      string
	Dimension int
	Radius    float64  // R of every set, s of the simplex, and the factor of the points of vertices
	Pick      int      // k of subsets and subsets-at-most; 0 for others
	Edges     []string // of a flow, of trees and of forests, from>to; none for others
	Blocks    []string // of partition and partition-at-most, size:pick; none for others
	Places    []string // of a ranking, numbers that fall; none for others
	Rows      int      // of a trace-norm ball's matrices; 0 for others
	Corners   []string // of vertices, numbers with spaces between them; none for others
	Low, High []string // of a box without a radius, where each coordinate ends; none for others
}

// ended reports whether a Spec gives the ends of coordinates.
func (s Spec) ended() bool { return len(s.Low)+len(s.High) > 0 }

// Parse returns the set that a Spec describes, or all its problems.
func Parse(spec Spec) (Set, error) {
	n, radius := spec.Dimension, spec.Radius
	var errs []error
	if n < 1 {
		errs = append(errs, fmt.Errorf("convex: dimension %d: less than 1", n))
	}
	switch ends := spec.ended(); {
	case ends && spec.Name != "box":
		errs = append(errs, fmt.Errorf("convex: low and high ends: set %s has none", spec.Name))
	case ends && radius != 0:
		errs = append(errs, fmt.Errorf("convex: radius %g: a box with low and high ends has none", radius))
	case !ends && !(radius >= minRadius && radius <= maxRadius):
		errs = append(errs, fmt.Errorf("convex: radius %g: not in [%g, %g]", radius, minRadius, maxRadius))
	}
	if spec.Pick != 0 && spec.Name != "subsets" && spec.Name != "subsets-at-most" {
		errs = append(errs, fmt.Errorf("convex: pick %d: set %s has none", spec.Pick, spec.Name))
	}
	if len(spec.Edges) > 0 && spec.Name != "flow" && spec.Name != "trees" && spec.Name != "forests" {
		errs = append(errs, fmt.Errorf("convex: edges: set %s has none", spec.Name))
	}
	if len(spec.Blocks) > 0 && spec.Name != "partition" && spec.Name != "partition-at-most" {
		errs = append(errs, fmt.Errorf("convex: blocks: set %s has none", spec.Name))
	}
	if len(spec.Places) > 0 && spec.Name != "ranking" {
		errs = append(errs, fmt.Errorf("convex: places: set %s has none", spec.Name))
	}
	if spec.Rows != 0 && spec.Name != "trace-norm" {
		errs = append(errs, fmt.Errorf("convex: rows %d: set %s has none", spec.Rows, spec.Name))
	}
	if len(spec.Corners) > 0 && spec.Name != "vertices" {
		errs = append(errs, fmt.Errorf("convex: vertices: set %s has none", spec.Name))
	}
	var set Set
	var err error
	switch spec.Name {
	case "l2-ball":
		set = Ball{n, radius}
	case "l1-ball":
		set = L1Ball{n, radius}
	case "simplex":
		set = Simplex{n, radius}
		if n == 1 {
			err = errors.New("convex: dimension 1: a simplex of one point leaves nothing to learn")
		}
	case "box":
		if set = newCube(max(0, n), radius); spec.ended() {
			set, err = newBox(spec.Low, spec.High, n)
		}
	case "subsets":
		set, err = newSubsets(n, spec.Pick, radius)
	case "flow":
		set, err = newFlow(spec.Edges, n, radius)
	case "matching":
		set, err = newMatching(n, radius)
	case "vertices":
		set, err = newHull(spec.Corners, n, radius)
	case "partition":
		set, err = newPartition(spec.Blocks, n, radius)
	case "trees":
		set, err = newTrees(spec.Edges, n, radius)
	case "ranking":
		set, err = newRanking(spec.Places, n, radius)
	case "spectrahedron":
		set, err = newSpectrahedron(n, radius)
	case "trace-norm":
		set, err = newTraceNorm(n, spec.Rows, radius)
	case "subsets-at-most":
		set, err = newSubsetsAtMost(n, spec.Pick, radius)
	case "partition-at-most":
		set, err = newPartitionAtMost(spec.Blocks, n, radius)
	case "forests":
		set, err = newForests(spec.Edges, n, radius)
	default:
		err = fmt.Errorf("convex: name %q: not one of %s", spec.Name, strings.Join(Names(), ", "))
	}
	if err := errors.Join(append(errs, err)...); err != nil {
		return nil, err
	}
	return set, nil
}

// NewProjection returns a projection with its own scratch space, for one machine.
func NewProjection(s Set) (Projection, error) {
	if p, ok := s.(interface{ Projection() Projection }); ok {
		return p.Projection(), nil
	}
	return nil, fmt.Errorf("convex: set %s: has no projection that is cheap (llo works)", s.Name())
}

// NewLocalOracle returns a local oracle with its own memory, for one machine. It returns an error for a set that is not
// a polytope.
func NewLocalOracle(s Set) (LocalOracle, error) {
	if p, ok := s.(interface{ LocalOracle() LocalOracle }); ok {
		return p.LocalOracle(), nil
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
