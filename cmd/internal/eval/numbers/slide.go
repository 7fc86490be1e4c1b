package numbers

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/figure"
)

// drawn is the largest number of lines in a panel.
const drawn = 4

// Slide draws a strip for each statistic of each setting, at the longest memory: the numbers at the end of the first
// stream by the last dimension of cells, and the numbers along that stream, with the first seed.
func (r *Report) Slide() *figure.Slide {
	last := r.Rows[0].Last[len(r.Rows[0].Last)-1]
	memory := "of all events"
	switch last.Memory {
	case "all":
	case "step":
		memory = "of each step"
	default:
		memory = "memory " + last.Memory + " steps"
	}
	slide := &figure.Slide{
		Title:    "Private numbers beside the truth",
		Subtitle: memory + " · line, ring and band: private, 95 % · dots and dashes: the truth",
		Notes: []string{
			"bands are of the noise alone, each for its place and time; the truth is computed without privacy: for the data's owner",
			"▲ ▼ a band goes on beyond the picture; no line: the number is little more than noise, and not shown; no band: nothing is known",
		},
		Share: 0.55,
	}
	var statistics, memories []string
	for _, n := range r.Rows[0].Last {
		if !slices.Contains(memories, n.Memory) {
			memories = append(memories, n.Memory)
		}
		if n.Memory == last.Memory && !slices.Contains(statistics, n.Statistic) {
			statistics = append(statistics, n.Statistic)
		}
	}
	if len(memories) > 1 {
		slide.Notes = append(slide.Notes, "not drawn: memory "+strings.Join(memories[:len(memories)-1], ", "))
	}
	var strips []figure.Strip
	var omitted []string
	for _, statistic := range statistics {
		for k := range r.Rows {
			row := &r.Rows[k]
			heading := fmt.Sprintf("%s, ε = %s, %s", statistic, digits.Upper(row.Epsilon), row.Mechanism)
			if len(strips) == figure.MostStrips {
				omitted = append(omitted, heading)
				continue
			}
			strip, lines := row.strip(statistic, last.Memory)
			if strip.Heading = heading; lines > drawn {
				strip.Heading += fmt.Sprintf("; the first %d of %d lines", drawn, lines)
			}
			strips = append(strips, strip)
		}
	}
	if omitted != nil {
		slide.Notes = append(slide.Notes, "not drawn: "+strings.Join(omitted, "; "))
	}
	slide.Stack(strips)
	return slide
}

// strip draws a statistic of a memory. It returns how many lines there are, of which it draws the first.
func (row *Row) strip(statistic, memory string) (strip figure.Strip, all int) {
	lines, dimension, places := groups(row.Last, statistic, memory)
	left := &figure.Chart{X: figure.Axis{Name: dimension, Places: places}, Y: figure.Axis{Name: statistic}}
	right := &figure.Chart{
		X: figure.Axis{Name: "steps of the first stream", Ticks: 5}, Y: figure.Axis{Name: statistic},
	}
	low, high := row.reach(statistic, memory)
	for _, l := range lines[:min(drawn, len(lines))] {
		line := figure.Line{End: l.name, Look: figure.Look(len(left.Lines))}
		best := -1
		for place, i := range l.cells {
			if i < 0 {
				continue
			}
			n := row.Last[i]
			add(&line, float64(place), n, low, high)
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
			add(&along, float64(step), row.path[k][best], low, high)
		}
		right.Lines = append(right.Lines, along)
	}
	return figure.Strip{Left: left, Right: right}, len(lines)
}

// reach returns the ends of the widest interval of a statistic. For a ratio of nothing it is the public range.
func (row *Row) reach(statistic, memory string) (low, high digits.Number) {
	low, high = digits.Number(math.Inf(1)), digits.Number(math.Inf(-1))
	for _, numbers := range row.path {
		for _, n := range numbers {
			if n.Statistic == statistic && n.Memory == memory {
				low, high = min(low, n.Low), max(high, n.High)
			}
		}
	}
	return low, high
}

// add adds a number to a line. A number that is not shown interrupts the line, but not the line's band. Only an
// interval from low to high, which says nothing, interrupts the band, because it would paint the whole panel.
func add(line *figure.Line, x float64, n Shown, low, high digits.Number) {
	value, ends := float64(n.Value), figure.Interval{X: x, Low: float64(n.Low), High: float64(n.High)}
	if !n.Shown {
		value = math.NaN()
		if n.Low <= low && n.High >= high {
			ends.Low, ends.High = math.NaN(), math.NaN()
		}
	}
	line.Points = append(line.Points, figure.Point{X: x, Y: value})
	line.Band = append(line.Band, ends)
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
func groups(numbers []Shown, statistic, memory string) (all []group, dimension string, places []string) {
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
