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

// minRadius and maxRadius keep every product of a radius with a cost far from overflow and underflow.
const minRadius, maxRadius = 1e-15, 1e15

// Spec describes a set by the values of settings.
type Spec struct {
	Name      string
	Dimension int
	Radius    float64  // R of every set, s of the simplex, and for vertices the factor of all points
	Pick      int      // k of subsets and subsets-at-most; 0 for other sets
	Edges     []string // edges from>to of a flow, of trees and of forests; none for other sets
	Blocks    []string // blocks size:pick of partition and partition-at-most; none for other sets
	Places    []string // descending place values of a ranking; none for other sets
	Rows      int      // number of rows of a trace-norm ball's matrices; 0 for other sets
	Corners   []string // points of vertices, each as numbers separated by spaces; none for other sets
	Low, High []string // ends of each coordinate of a box without a radius; none for other sets
}

// ended reports whether a Spec gives the ends of coordinates.
func (s Spec) ended() bool { return len(s.Low)+len(s.High) > 0 }

// kind describes one of the sets that settings can name.
type kind struct {
	name string
	own  string // the setting that the kind requires besides SET, DIMENSION and RADIUS; "" if there is none
	make func(Spec) (Set, error)
}

var kinds = []kind{
	{"l2-ball", "", func(s Spec) (Set, error) { return newBall(s.Dimension, s.Radius), nil }},
	{"l1-ball", "", func(s Spec) (Set, error) { return newL1Ball(s.Dimension, s.Radius), nil }},
	{"simplex", "", func(s Spec) (Set, error) { return newSimplex(s.Dimension, s.Radius) }},
	{"box", "", func(s Spec) (Set, error) {
		if s.ended() {
			return newBox(s.Low, s.High, s.Dimension)
		}
		return newCube(max(0, s.Dimension), s.Radius), nil
	}},
	{"subsets", "PICK", func(s Spec) (Set, error) { return newSubsets(s.Dimension, s.Pick, s.Radius) }},
	{"flow", "EDGES", func(s Spec) (Set, error) { return newFlow(s.Edges, s.Dimension, s.Radius) }},
	{"matching", "", func(s Spec) (Set, error) { return newMatching(s.Dimension, s.Radius) }},
	{"vertices", "VERTICES", func(s Spec) (Set, error) { return newHull(s.Corners, s.Dimension, s.Radius) }},
	{"partition", "BLOCKS", func(s Spec) (Set, error) { return newPartition(s.Blocks, s.Dimension, s.Radius) }},
	{"trees", "EDGES", func(s Spec) (Set, error) { return newTrees(s.Edges, s.Dimension, s.Radius) }},
	{"ranking", "WORTHS", func(s Spec) (Set, error) { return newRanking(s.Places, s.Dimension, s.Radius) }},
	{"spectrahedron", "", func(s Spec) (Set, error) { return newSpectrahedron(s.Dimension, s.Radius) }},
	{"trace-norm", "ROWS", func(s Spec) (Set, error) { return newTraceNorm(s.Dimension, s.Rows, s.Radius) }},
	{"subsets-at-most", "PICK", func(s Spec) (Set, error) { return newSubsetsAtMost(s.Dimension, s.Pick, s.Radius) }},
	{"partition-at-most", "BLOCKS", func(s Spec) (Set, error) {
		return newPartitionAtMost(s.Blocks, s.Dimension, s.Radius)
	}},
	{"forests", "EDGES", func(s Spec) (Set, error) { return newForests(s.Edges, s.Dimension, s.Radius) }},
}

// Names lists the sets that Parse knows.
func Names() (names []string) {
	for _, k := range kinds {
		names = append(names, k.name)
	}
	return names
}

// kind returns the kind that a Spec names, or one without a constructor.
func (s Spec) kind() (found kind) {
	for _, k := range kinds {
		if k.name == s.Name {
			found = k
		}
	}
	return found
}

// ownSetting is a setting that only some kinds of sets have.
type ownSetting struct {
	name, text string // text is the name of the setting in errors
	set        bool
}

func (s Spec) ownSettings() []ownSetting {
	return []ownSetting{
		{"EDGES", "edges", len(s.Edges) > 0},
		{"BLOCKS", "blocks", len(s.Blocks) > 0},
		{"ROWS", fmt.Sprintf("rows %d", s.Rows), s.Rows != 0},
		{"WORTHS", "places", len(s.Places) > 0},
		{"VERTICES", "vertices", len(s.Corners) > 0},
		{"PICK", fmt.Sprintf("pick %d", s.Pick), s.Pick != 0},
	}
}

// Parse returns the set that a Spec describes, or all its problems.
func Parse(spec Spec) (Set, error) {
	radius, kind := spec.Radius, spec.kind()
	var errs []error
	if spec.Dimension < 1 {
		errs = append(errs, fmt.Errorf("convex: dimension %d: less than 1", spec.Dimension))
	}
	switch ends := spec.ended(); {
	case ends && spec.Name != "box":
		errs = append(errs, fmt.Errorf("convex: low and high ends: set %s has none", spec.Name))
	case ends && radius != 0:
		errs = append(errs, fmt.Errorf("convex: radius %g: a box with low and high ends has none", radius))
	case !ends && !(radius >= minRadius && radius <= maxRadius):
		errs = append(errs, fmt.Errorf("convex: radius %g: not in [%g, %g]", radius, minRadius, maxRadius))
	}
	for _, own := range spec.ownSettings() {
		if own.set && own.name != kind.own {
			errs = append(errs, fmt.Errorf("convex: %s: set %s has none", own.text, spec.Name))
		}
	}
	if kind.make == nil {
		errs = append(errs, fmt.Errorf("convex: name %q: not one of %s", spec.Name, strings.Join(Names(), ", ")))
		return nil, errors.Join(errs...)
	}
	set, err := kind.make(spec)
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

// NewLocalOracle returns a local oracle with its own memory, for one machine. It returns an error for the ℓ2 ball. For
// a followed set, the oracle moves towards the linear minimiser for every radius.
func NewLocalOracle(s Set) (LocalOracle, error) {
	switch s := s.(type) {
	case interface{ LocalOracle() LocalOracle }:
		return s.LocalOracle(), nil
	case followed:
		return newFollowing(s), nil
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
	if s, ok := s.(interface{ settle(x []float64) }); ok {
		s.settle(x)
	}
}
