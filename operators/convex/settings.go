package convex

import "oriel/operators"

// rows are the settings that say a Spec: the kind, the unit and the limits of each, and whether it is required.
var rows = []operators.Setting{
	{Name: "SET", Kind: operators.Text, Unit: "name", Choices: Names(), Required: true},
	{Name: "RADIUS", Kind: operators.Number, Unit: "length", Range: "1e-15 to 1e15", Required: true},
	{
		Name: "PICK", Kind: operators.Count, Unit: "coordinates", Default: "0",
		Range: "0, or 1 to the dimension less 1; subsets, and subsets-at-most up to the dimension",
	},
	{
		Name: "EDGES", Kind: operators.File, Unit: "file", Entry: ParseEdge,
		Range: "from>to, an edge a line; flow, trees, forests",
	},
	{
		Name: "BLOCKS", Kind: operators.List, Unit: "size:pick,…", Entry: ParseBlock,
		Range: "whole numbers, 1 ≤ pick < size, all sizes together the dimension; partition, partition-at-most",
	},
	{
		Name: "WORTHS", Kind: operators.List, Unit: "worth,…", Entry: ParsePlace,
		Range: "numbers from 0 to 1e15, none more than the one before, at most the dimension; ranking",
	},
	{
		Name: "ROWS", Kind: operators.Count, Unit: "rows", Range: "0, or a divisor of the dimension; trace-norm",
		Default: "0",
	},
	{
		Name: "VERTICES", Kind: operators.File, Unit: "file", Entry: ParseCorner,
		Range: "numbers with spaces between them, a point a line; vertices",
	},
}

// Setting returns the row of a setting that says a Spec, with a text of the operator's own.
func Setting(name, text string) operators.Setting {
	for _, row := range rows {
		if row.Name == name {
			row.Text = text
			return row
		}
	}
	panic("BUG: convex: no setting " + name)
}

// LaterSetting is Setting for a row that came after the operator's first version.
func LaterSetting(name, text string) operators.Setting {
	row := Setting(name, text)
	row.Later = true
	return row
}

// Read reads a Spec from the settings of Setting and from DIMENSION.
func Read(v *operators.Values) Spec {
	return Spec{
		Name: v.Text("SET"), Dimension: int(min(v.Count("DIMENSION"), operators.MaxDimension)), Radius: v.Number("RADIUS"),
		Pick: int(min(v.Count("PICK"), operators.MaxDimension)), Edges: v.Entries("EDGES"),
		Blocks: v.Entries("BLOCKS"), Places: v.Entries("WORTHS"),
		Rows: int(min(v.Count("ROWS"), operators.MaxDimension)), Corners: v.Entries("VERTICES"),
	}
}

// Sound reports whether the settings that Read reads are right so far, SET aside: what is wrong with the set is then
// wrong with all of them together.
func Sound(v *operators.Values) bool {
	return v.Sound("RADIUS", "DIMENSION", "PICK", "EDGES", "BLOCKS", "WORTHS", "ROWS", "VERTICES")
}
