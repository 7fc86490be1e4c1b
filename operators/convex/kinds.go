package convex

import (
	"errors"
	"fmt"
	"strings"
)

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

// NewTangent returns the tangent space of a set. It returns an error for a flow or vertices if a projection would be
// too expensive for each event.
func NewTangent(s Set) (Tangent, error) {
	if t, ok := s.(interface{ tangent() (Tangent, error) }); ok {
		return t.tangent()
	}
	return full(s.Dimension()), nil
}

// CoarseTangent returns a space that contains the tangent space and is cheap for every set. For flows and vertices it
// has all directions, and for trees the directions in which the sum of all edges is 0. For other sets it is the tangent
// space.
func CoarseTangent(s Set) Tangent {
	switch s.(type) {
	case Flow, Hull:
		return full(s.Dimension())
	case Trees:
		return centred{s.Dimension()}
	}
	t, err := NewTangent(s)
	if err != nil {
		panic("BUG: convex: the tangent space of " + s.Name() + ": " + err.Error())
	}
	return t
}
