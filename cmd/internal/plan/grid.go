package plan

import (
	"io"
	"strings"
	"unicode/utf8"
)

// grid is a table of text: the first column is aligned left, the others right, with two spaces between columns.
type grid struct {
	rows [][]string
}

func (g *grid) add(cells ...string) { g.rows = append(g.rows, cells) }

func (g *grid) print(out io.Writer) error {
	var widths []int
	for _, row := range g.rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
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
	_, err := io.WriteString(out, b.String())
	return err
}
