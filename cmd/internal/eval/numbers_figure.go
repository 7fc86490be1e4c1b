package eval

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"oriel/cmd/internal/plan"
)

// drawn is how many lines a panel has at most.
const drawn = 4

// Figure is the slide of the first setting: the statistic asked for last, by the last dimension of cells at the end of
// the first stream, and along it.
func (r *NumbersReport) Figure() *plan.Bands {
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
	figure := &plan.Bands{
		Title: "Private " + last.Statistic + " beside the truth",
		Subtitle: fmt.Sprintf("%s, ε = %g · %s, %s · line, ring and band: private, 95 %% · dots and dashes: the truth",
			row.Mechanism, row.Epsilon, last.Statistic, memory),
		Notes: []string{
			"bands are of the noise alone, each for its place and time; the truth is computed without privacy: for the data's owner",
			"▲ ▼ a band goes on beyond the picture; no line: the number is little more than noise, and not shown",
		},
		Right: plan.BandPanel{X: "steps of the first stream", Y: last.Statistic},
	}
	lines, dimension, places := groups(row.Last, last.Statistic, last.Memory)
	if len(lines) > drawn {
		figure.Notes = append(figure.Notes, fmt.Sprintf("drawn are the first %d of %d", drawn, len(lines)))
		lines = lines[:drawn]
	}
	figure.Left = plan.BandPanel{X: dimension, Y: last.Statistic, Places: places}
	for _, l := range lines {
		line := plan.BandLine{Name: l.name}
		best := -1
		for place, i := range l.cells {
			if i < 0 {
				continue
			}
			n := row.Last[i]
			line.Points = append(line.Points, point(float64(place), n))
			if known(n.Truth) && (best < 0 || n.High-n.Low < row.Last[best].High-row.Last[best].Low) {
				best = i
			}
		}
		figure.Left.Lines = append(figure.Left.Lines, line)
		if best < 0 {
			continue
		}
		along := plan.BandLine{Name: strings.TrimPrefix(l.name+", "+valueOf(row.Last[best].Cell), ", ")}
		for k, step := range row.Steps {
			along.Points = append(along.Points, point(float64(step), row.path[k][best]))
		}
		figure.Right.Lines = append(figure.Right.Lines, along)
	}
	return figure
}

func point(x float64, n ShownNumber) plan.BandPoint {
	at := plan.BandPoint{
		X: x, Value: float64(n.Value), Low: float64(n.Low), High: float64(n.High), Truth: float64(n.Truth),
	}
	if !n.Shown {
		at.Value = math.NaN()
	}
	return at
}

// group is the cells that differ in the last dimension alone, by their place along it; −1 where there is none.
type group struct {
	name  string
	cells []int
}

// groups parts the cells of a statistic and memory. They are named dimension=place,dimension=place; one may be other.
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
			place = last // all, or other: a place of its own
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

// values are those of a cell's dimensions without their names.
func values(cell string) string {
	var parts []string
	for part := range strings.SplitSeq(cell, ",") {
		parts = append(parts, part[strings.IndexByte(part, '=')+1:])
	}
	return strings.Join(parts, ", ")
}

// valueOf is that of the last dimension.
func valueOf(cell string) string { return values(cell[strings.LastIndexByte(cell, ',')+1:]) }
