// Package table turns CSV rows into the JSON events of package schemas.
//
// A Mapping says which rows count, what the label is, which columns are features, which column chooses the partition
// and which the key, and in which order the rows come. Its texts are those of the command line and of a mapping file:
//
//	where        arr_delay!=NA     one comparison of a column with a constant: = != > >= < <=
//	label        arr_delay>15      a comparison: true or false; or a column alone: its number
//	features     origin            the cell as a string
//	             hour:number       the cell as a number
//	members      reward=paid       a member of the body: the cell as a number, a count or a choice, as its kind says
//	             relatives=a,b     a vector: the cells of these columns as numbers
//	partition_by origin            the cell decides the partition
//	key          tailnum           the cell is the record key
//	sort         year, month       ascending and stable: rows that are equal stay in file order
//
// A cell is missing if it is empty or NA. A missing feature is left out of the event and a missing key is no key. A
// missing cell equals only a missing constant (so arr_delay!=NA keeps the rows that have one), is neither above nor
// below anything, and sorts last. A missing label is an error, and so is that of another member that is not optional:
// exclude such rows by where. Two cells compare as numbers if both are numbers, else as bytes; a column sorts as
// numbers if all its cells that are not missing are numbers. Numbers are decimal and finite, with an optional sign,
// fraction and exponent.
//
// Without a Body events have features and a label. With one, features and label go where the body has them, under its
// names, and every member that is not optional is given.
//
// Without sort rows are streamed; with sort all events are held in memory, a few hundred bytes a row. Errors name the
// line, the column and the rule, and never a cell.
//
//	m := table.Mapping{Where: "arr_delay!=NA", Label: "arr_delay>15", Features: []string{"origin", "hour:number"}, PartitionBy: "origin"}
//	rows, err := m.Open(file)
//	for { row, err := rows.Next(); if errors.Is(err, io.EOF) { break } … }
package table
