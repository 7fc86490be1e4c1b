package table

import (
	"slices"
	"unicode/utf8"

	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// missing lists the texts of cells without a value, besides the empty text.
type missing []string

func (m missing) has(cell string) bool { return cell == "" || slices.Contains(m, cell) }

// cells presents the last row as a mapping.Source: the text at a path is the cell of its column.
type cells struct {
	missing
	columns []int // column of each path; −1: the element after the last coordinate, which no row has
	row     []string
	texts   []byte
}

// Fill reads the row and ignores the record.
func (c *cells) Fill(values []mapping.Value, _ []byte) text.Code {
	c.texts = c.texts[:0]
	for i, column := range c.columns {
		values[i].Kind = mapping.Absent
		if column < 0 || c.has(c.row[column]) {
			continue
		}
		if !utf8.ValidString(c.row[column]) {
			return text.InvalidUTF8
		}
		start := len(c.texts)
		c.texts = append(c.texts, c.row[column]...)
		values[i].Kind, values[i].Text = mapping.Text, c.texts[start:]
	}
	return text.OK
}

// column returns the column of a path: its name or, for a vector with one coordinate, the name before the index.
func column(p mapping.Path, columns map[string]int) (k int, found bool) {
	k, found = columns[p[0]]
	switch {
	case len(p) == 1 || len(p) == 2 && p[1] == "0":
		return k, found
	case len(p) == 2 && p[1] == "1":
		return -1, found
	}
	return k, false
}

// whole appends a row as an object of its cells, without missing cells.
func (s *source) whole(dst []byte, row []string) ([]byte, bool) {
	dst = append(dst, '{')
	for k, value := range row {
		if s.cells.has(value) {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(text.AppendString(dst, s.header[k]), ':')
		dst = text.AppendString(dst, value)
		if !utf8.ValidString(value) {
			return dst, false
		}
	}
	return append(dst, '}'), true
}
