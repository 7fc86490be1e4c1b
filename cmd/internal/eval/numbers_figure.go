package eval

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/figure"
)

// drawn is the largest number of lines in a panel.
const drawn = 4

// Slide draws the first setting. For the last statistic it shows the numbers at the end of the first stream by the last
// dimension of cells, and the numbers along that stream.
func (r *NumbersReport) Slide() *figure.Slide {
	row := &r.Rows[0]
	last := row.Last[len(row.Last)-1]
	memory := "of all events"
	switch last.Memory {
	case "all":
	case "step":
		memory = "of each step"
	default:
		memory = "memory " + last.Memory + " steps"
	}
	lines, dimension, places := groups(row.Last, last.Statistic, last.Memory)
	left := &figure.Chart{X: figure.Axis{Name: dimension, Places: places}, Y: figure.Axis{Name: last.Statistic}}
	right := &figure.Chart{
		X: figure.Axis{Name: "steps of the first stream", Ticks: 5}, Y: figure.Axis{Name: last.Statistic},
	}
	slide := &figure.Slide{
		Title: "Private " + last.Statistic + " beside the truth",
		Subtitle: fmt.Sprintf("%s, ε = %g · %s, %s · line, ring and band: private, 95 %% · dots and dashes: the truth",
			row.Mechanism, row.Epsilon, last.Statistic, memory),
		Notes: []string{
			"bands are of the noise alone, each for its place and time; the truth is computed without privacy: for the data's owner",
			"▲ ▼ a band goes on beyond the picture; no line: the number is little more than noise, and not shown",
		},
		Left: left, Right: right, Share: 0.55,
	}
	if len(lines) > drawn {
		slide.Notes = append(slide.Notes, fmt.Sprintf("drawn are the first %d of %d", drawn, len(lines)))
		lines = lines[:drawn]
	}
	for _, l := range lines {
		line := figure.Line{End: l.name, Look: figure.Look(len(left.Lines))}
		best := -1
		for place, i := range l.cells {
			if i < 0 {
				continue
			}
			n := row.Last[i]
			add(&line, float64(place), n)
			if n.Truth.Known() && (best < 0 || n.High-n.Low < row.Last[best].High-row.Last[best].Low) {
				best = i
			}
		}
		left.Lines = append(left.Lines, line)
		if best < 0 {
			continue
		}
		along := figure.Line{
			End:  strings.TrimPrefix(l.name+", "+valueOf(row.Last[best].Cell), ", "),
			Look: figure.Look(len(right.Lines)),
		}
		for k, step := range row.Steps {
			add(&along, float64(step), row.path[k][best])
		}
		right.Lines = append(right.Lines, along)
	}
	return slide
}

// add adds a number to a line. A number that is not shown interrupts the line, but not the line's band.
func add(line *figure.Line, x float64, n ShownNumber) {
	value := float64(n.Value)
	if !n.Shown {
		value = math.NaN()
	}
	line.Points = append(line.Points, figure.Point{X: x, Y: value})
	line.Band = append(line.Band, figure.Interval{X: x, Low: float64(n.Low), High: float64(n.High)})
	line.Truth = append(line.Truth, figure.Point{X: x, Y: float64(n.Truth)})
}

// group holds the cells that differ only in the last dimension, by their position along this dimension; −1: there is no
// such cell.
type group struct {
	name  string
	cells []int
}

// groups groups the cells of a statistic and memory. The name of a cell is dimension=place,dimension=place; one cell
// may be named other.
func groups(numbers []ShownNumber, statistic, memory string) (all []group, dimension string, places []string) {
	for i, n := range numbers {
		if n.Statistic != statistic || n.Memory != memory {
			continue
		}
		rest, last := "", n.Cell
		if at := strings.LastIndexByte(n.Cell, ','); at >= 0 {
			rest, last = n.Cell[:at], n.Cell[at+1:]
		}
		name, place, found := strings.Cut(last, "=")
		if !found {
			place = last // the cells "all" and "other" are places of their own
		} else {
			dimension = name
		}
		first, _, _ := strings.Cut(place, ":")
		k := slices.Index(places, first)
		if k < 0 {
			k, places = len(places), append(places, first)
		}
		g := slices.IndexFunc(all, func(g group) bool { return g.name == values(rest) })
		if g < 0 {
			g, all = len(all), append(all, group{name: values(rest)})
		}
		for len(all[g].cells) <= k {
			all[g].cells = append(all[g].cells, -1)
		}
		all[g].cells[k] = i
	}
	return all, dimension, places
}

// values returns the places in a cell's name, without the names of the dimensions.
func values(cell string) string {
	var parts []string
	for part := range strings.SplitSeq(cell, ",") {
		parts = append(parts, part[strings.IndexByte(part, '=')+1:])
	}
	return strings.Join(parts, ", ")
}

// valueOf returns the place of a cell in the last dimension.
func valueOf(cell string) string { return values(cell[strings.LastIndexByte(cell, ',')+1:]) }
