package catalogue

import (
	"errors"
	"fmt"
	"strings"

	"oriel/operators/convex"
	"oriel/operators/convex/ball"
	"oriel/operators/convex/choice"
	"oriel/operators/convex/graph"
	"oriel/operators/convex/hull"
	"oriel/operators/convex/shape"
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
	make func(Spec) (convex.Set, error)
}

var kinds = []kind{
	{"l2-ball", "", func(s Spec) (convex.Set, error) { return ball.NewL2(s.Dimension, s.Radius), nil }},
	{"l1-ball", "", func(s Spec) (convex.Set, error) { return ball.NewL1(s.Dimension, s.Radius), nil }},
	{"simplex", "", func(s Spec) (convex.Set, error) { return ball.NewSimplex(s.Dimension, s.Radius) }},
	{"box", "", func(s Spec) (convex.Set, error) {
		if s.ended() {
			return ball.NewBox(s.Low, s.High, s.Dimension)
		}
		return ball.NewCube(max(0, s.Dimension), s.Radius), nil
	}},
	{"subsets", "PICK", func(s Spec) (convex.Set, error) { return choice.NewSubsets(s.Dimension, s.Pick, s.Radius) }},
	{"flow", "EDGES", func(s Spec) (convex.Set, error) { return graph.NewFlow(s.Edges, s.Dimension, s.Radius) }},
	{"matching", "", func(s Spec) (convex.Set, error) { return choice.NewMatching(s.Dimension, s.Radius) }},
	{"vertices", "VERTICES", func(s Spec) (convex.Set, error) { return hull.New(s.Corners, s.Dimension, s.Radius) }},
	{
		"partition",
		"BLOCKS",
		func(s Spec) (convex.Set, error) { return choice.NewPartition(s.Blocks, s.Dimension, s.Radius) },
	},
	{"trees", "EDGES", func(s Spec) (convex.Set, error) { return graph.NewTrees(s.Edges, s.Dimension, s.Radius) }},
	{"ranking", "WORTHS", func(s Spec) (convex.Set, error) { return choice.NewRanking(s.Places, s.Dimension, s.Radius) }},
	{"spectrahedron", "", func(s Spec) (convex.Set, error) { return ball.NewSpectrahedron(s.Dimension, s.Radius) }},
	{"trace-norm", "ROWS", func(s Spec) (convex.Set, error) { return ball.NewTraceNorm(s.Dimension, s.Rows, s.Radius) }},
	{
		"subsets-at-most",
		"PICK",
		func(s Spec) (convex.Set, error) { return choice.NewSubsetsAtMost(s.Dimension, s.Pick, s.Radius) },
	},
	{"partition-at-most", "BLOCKS", func(s Spec) (convex.Set, error) {
		return choice.NewPartitionAtMost(s.Blocks, s.Dimension, s.Radius)
	}},
	{"forests", "EDGES", func(s Spec) (convex.Set, error) { return graph.NewForests(s.Edges, s.Dimension, s.Radius) }},
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
func Parse(spec Spec) (convex.Set, error) {
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
	case !ends && !(radius >= shape.MinRadius && radius <= shape.MaxRadius):
		errs = append(errs, fmt.Errorf("convex: radius %g: not in [%g, %g]", radius, shape.MinRadius, shape.MaxRadius))
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
