package catalogue

import (
	"slices"
	"strings"

	"oriel/operators/convex"
	"oriel/operators/convex/ball"
	"oriel/operators/convex/choice"
	"oriel/operators/convex/graph"
	"oriel/operators/convex/hull"
	"oriel/operators/convex/shape"
	"oriel/operators/setting"
)

// rows holds the settings of a Spec, with the kind, the unit and the limits of each, and whether it is required.
var rows = []setting.Row{
	{Name: "SET", Kind: setting.Text, Unit: "name", Choices: Names(), Required: true},
	{
		Name: "RADIUS", Kind: setting.Number, Unit: "length",
		Bounds: setting.From(shape.MinRadius, shape.MaxRadius), Range: "1e-15 to 1e15; every set has one but a box with ORIEL_LOW and ORIEL_HIGH",
	},
	{
		Name: "PICK", Kind: setting.Count, Unit: "coordinates", Default: "0",
		Bounds: setting.From(0, setting.MaxDimension), Range: "0, or 1 to the dimension less 1 for ORIEL_SET=subsets, and 1 to the dimension for subsets-at-most",
	},
	{
		Name: "EDGES", Kind: setting.File, Unit: "file", Entry: graph.ParseEdge,
		Range: "lines from>to, one for each edge, with two different names; for ORIEL_SET=flow, trees, forests",
	},
	{
		Name: "BLOCKS", Kind: setting.List, Unit: "size:pick,…", Entry: choice.ParseBlock,
		Range: "whole numbers, 1 ≤ pick < size, all sizes together the dimension; for ORIEL_SET=partition, partition-at-most",
	},
	{
		Name: "WORTHS", Kind: setting.List, Unit: "worth,…", Entry: choice.ParsePlace,
		Range: "numbers from 0 to 1e15, none more than the one before, at most the dimension; for ORIEL_SET=ranking",
	},
	{
		Name: "ROWS", Kind: setting.Count, Unit: "rows",
		Bounds:  setting.From(0, setting.MaxDimension),
		Range:   "0, or a divisor of the dimension; for ORIEL_SET=trace-norm",
		Default: "0",
	},
	{
		Name: "VERTICES", Kind: setting.File, Unit: "file", Entry: hull.ParseCorner,
		Range: "lines of numbers with spaces between them, one for each point; for ORIEL_SET=vertices",
	},
	{
		Name: "LOW", Kind: setting.List, Unit: "length,…", Entry: ball.ParseEnd,
		Range: "numbers up to 1e15 in size, one for each coordinate or one for all; for ORIEL_SET=box without ORIEL_RADIUS",
	},
	{
		Name: "HIGH", Kind: setting.List, Unit: "length,…", Entry: ball.ParseEnd,
		Range: "numbers up to 1e15 in size, one for each coordinate or one for all, each above its low end; for ORIEL_SET=box",
	},
}

// Setting returns the row of a setting that is part of a Spec, with the operator's own text.
func Setting(name, text string) setting.Row {
	row := setting.Of(rows, name)
	row.Text = text
	return row
}

// read reads a Spec from these settings and from DIMENSION. It requires a radius, unless the set is a box with ends.
func read(v *setting.Values) Spec {
	s := Spec{
		Name: v.Text("SET"), Dimension: int(min(v.Count("DIMENSION"), setting.MaxDimension)), Radius: v.Number("RADIUS"),
		Pick: int(min(v.Count("PICK"), setting.MaxDimension)), Edges: v.Entries("EDGES"),
		Blocks: v.Entries("BLOCKS"), Places: v.Entries("WORTHS"),
		Rows: int(min(v.Count("ROWS"), setting.MaxDimension)), Corners: v.Entries("VERTICES"),
		Low: v.Entries("LOW"), High: v.Entries("HIGH"),
	}
	s.wantEnds(v)
	v.Want("RADIUS", s.Name != "box" || !s.ended() || s.Radius == 0, "set; a box with ORIEL_LOW and ORIEL_HIGH has none")
	if s.Name != "box" || !s.ended() && v.Sound("LOW", "HIGH") {
		if s.Radius == 0 {
			v.Break("RADIUS", "not set; every set has one but a box with ORIEL_LOW and ORIEL_HIGH")
		}
	}
	return s
}

// wantEnds checks that a box has both ends or none, with as many entries as coordinates, and that other sets have none.
func (s Spec) wantEnds(v *setting.Values) {
	for _, end := range []struct {
		name, other string
		list, with  []string
	}{{"LOW", "HIGH", s.Low, s.High}, {"HIGH", "LOW", s.High, s.Low}} {
		n := len(end.list)
		switch {
		case s.Name == "": // reported already
		case s.Name != "box":
			v.Want(end.name, n == 0, "set; ORIEL_SET=%s has none, only a box", s.Name)
		case n == 0:
			v.Want(end.name, len(end.with) == 0 || !v.Sound(end.name), "not set; a box with ORIEL_%s needs it", end.other)
		default:
			v.Want(end.name, n == 1 || n == s.Dimension || !v.Sound("DIMENSION"),
				"%d numbers: neither one for each of %d dimensions, nor one for all", n, s.Dimension)
		}
	}
}

// Radius returns RADIUS or, for a box with ends, half of the box's longest side.
func Radius(v *setting.Values, s convex.Set) float64 {
	radius := v.Number("RADIUS")
	if b, ok := s.(ball.Box); ok && radius == 0 {
		for i, low := range b.Low {
			radius = max(radius, b.High[i]/2-low/2)
		}
	}
	return radius
}

// Want returns the set that the settings describe. It reports an invalid set under the setting that causes it.
func Want(v *setting.Values) convex.Set {
	spec := read(v)
	set, err := Parse(spec)
	own := append(spec.ownSettings(), ownSetting{name: "LOW", set: spec.ended()})
	name := "SET"
	if i := slices.IndexFunc(own, func(o ownSetting) bool { return o.set || o.name == spec.kind().own }); i >= 0 {
		name = own[i].name
	}
	// If no setting has a problem by itself, a problem of the set concerns all its settings together.
	if err != nil && v.Sound(
		"RADIUS", "DIMENSION", "PICK", "EDGES", "BLOCKS", "WORTHS", "ROWS", "VERTICES", "LOW", "HIGH",
	) {
		v.Break(name, "%s", strings.TrimPrefix(err.Error(), "convex: "))
	}
	return set
}
