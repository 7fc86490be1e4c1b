// Package table turns CSV rows into the JSON events of package event.
//
// A row is a record of package mapping, whose texts and documents define the event: a path is a column, or a JSON
// pointer of one name, and every value is a text. Rows also have:
//
//	partition_by origin            the cell determines the partition
//	key          tailnum           the cell is the record key
//	sort         year, month       ascending and stable: rows that are equal stay in file order
//
// A cell is missing if it is empty, or one of the texts in Mapping.Missing. No other text is, because each could be
// data: NA is also Namibia. So a row and the JSON object of its other cells make the same event. A missing feature is
// left out of the event, and a missing key gives no key. A missing label, or other required member, is an error:
// exclude such rows by where. A missing cell sorts last; a column sorts as numbers if all its other cells are numbers.
//
// Without a Body, events have features and a label. With one, features and label take the names that the body has for
// them, and the mapping must have every required member.
//
// Without sort, rows are streamed. With sort, all events are held in memory, a few hundred bytes a row. Errors name the
// line, the member, the column and the rule, and never a cell.
//
//	m := table.Mapping{
//		Where: "arr_delay!=NA", Label: "arr_delay>15", Features: []string{"origin", "hour:number"}, PartitionBy: "origin",
//	}
//	rows, err := m.Open(file)
//	for { row, err := rows.Next(); if errors.Is(err, io.EOF) { break } … }
package table
