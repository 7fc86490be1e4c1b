package digits

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// Table is a table of text. String aligns the first column left and the others right, with two spaces between columns.
type Table struct {
	rows [][]string
}

// Column is a column of a table.
type Column[R any] struct {
	head []string
	of   func(row R) string
}

// Col returns a column with the lines of its head, which have \n between them, and the cell of a row.
func Col[R any](head string, of func(row R) string) Column[R] {
	return Column[R]{strings.Split(head, "\n"), of}
}

// If returns the column, or a column that TableOf leaves out.
func (c Column[R]) If(shown bool) Column[R] {
	if !shown {
		c.of = nil
	}
	return c
}

// TableOf returns a table of the columns, with their heads above the rows.
func TableOf[R any](rows []R, columns ...Column[R]) *Table {
	t := &Table{}
	columns = slices.DeleteFunc(columns, func(c Column[R]) bool { return c.of == nil })
	for i, c := range columns {
		for k, line := range c.head {
			if k == len(t.rows) {
				t.Add(make([]string, len(columns))...)
			}
			t.rows[k][i] = line
		}
	}
	for _, row := range rows {
		var cells []string
		for _, c := range columns {
			cells = append(cells, c.of(row))
		}
		t.Add(cells...)
	}
	return t
}

// Add adds a row.
func (g *Table) Add(cells ...string) { g.rows = append(g.rows, cells) }

// String returns one line for each row.
func (g *Table) String() string {
	widths := g.widths()
	var b strings.Builder
	for _, row := range g.rows {
		line := ""
		for i, cell := range row {
			space := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				line += cell + space
			} else {
				line += "  " + space + cell
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return b.String()
}

// Right returns one line for each row, with all cells aligned right.
func (g *Table) Right() string {
	widths := g.widths()
	var b strings.Builder
	for _, row := range g.rows {
		for i, cell := range row {
			b.WriteString(strings.Repeat(" ", 2+widths[i]-utf8.RuneCountInString(cell)) + cell)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// widths returns the number of characters in the longest cell of each column.
func (g *Table) widths() (widths []int) {
	for _, row := range g.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}
