// Package table turns CSV rows into the JSON events of package schemas.
//
// A row is a record of package mapping, whose texts and documents say what becomes of it: a path is a column, or a JSON
// pointer of one name, and every value is a text. Beside them stand, of rows alone:
//
//	partition_by origin            the cell decides the partition
//	key          tailnum           the cell is the record key
//	sort         year, month       ascending and stable: rows that are equal stay in file order
//
// A cell is missing if it is empty or NA. A missing feature is left out of the event and a missing key is no key. A
// missing label is an error, and so is that of another member that is not optional: exclude such rows by where. A
// missing cell sorts last; a column sorts as numbers if all its cells that are not missing are numbers.
//
// Without a Body events have features and a label. With one, features and label go where the body has them, under its
// names, and every member that is not optional is given.
//
// Without sort rows are streamed; with sort all events are held in memory, a few hundred bytes a row. Errors name the
// line, the member, the column and the rule, and never a cell.
//
//	m := table.Mapping{
//		Where: "arr_delay!=NA", Label: "arr_delay>15", Features: []string{"origin", "hour:number"}, PartitionBy: "origin",
//	}
//	rows, err := m.Open(file)
//	for { row, err := rows.Next(); if errors.Is(err, io.EOF) { break } … }
package table
