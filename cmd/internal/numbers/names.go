package numbers

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"oriel/cmd/internal/numbers/clock"
)

// All stands for all places of a dimension, in a marginal that sums over the dimension. Where a cell has a place of
// this name, parentheses around the word tell the marginal from the cell.
const All = "all"

// Names describes the numbers of a deployment's decisions, from its descriptor.
type Names struct {
	Cells      []string  // labels of cells, in the form of the deployment's table
	Statistics []string  // statistics that decisions show
	Increments []string  // names of the columns of increments; none: decisions do not have increments
	Deviations []float64 `json:"increment_deviations"` // deviation of the noise by column, relative to that of a count
	Bins       int
	EmitEvery  uint64 `json:"emit_every"`
	Value      *struct {
		Column    string
		Low, High float64
	}
	Views []struct {
		Memory uint64
		Of     string
	}
	// Period says how persons are counted: once in each of their first Cells cells in a period. Periods begin at multiples
	// of Seconds since 1970 (UTC), plus Offset. Nil: events are counted.
	Period *struct {
		Seconds, Offset int64
		Cells           int
	} `json:"person_period"`

	dimensions []string   // names of dimensions
	places     [][]string // places of each cell, by dimension
	all        string     // stands for all places; no place has this name
}

// Every error of ParseNames wraps errNames.
var errNames = errors.New("not a descriptor of ORIEL_OPERATOR=aggregate")

// most bounds the numbers of cells and columns in a descriptor.
const most = 1 << 20

// ParseNames parses a descriptor: the last line of text, which is in the format of `oriel tail --raw`.
func ParseNames(text []byte) (*Names, error) {
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	n := &Names{}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), n); err != nil {
		return nil, fmt.Errorf("%w: not a JSON object, or an object with other members", errNames)
	}
	switch {
	case len(n.Cells) == 0 || len(n.Statistics) == 0 || len(n.Views) == 0:
		return nil, fmt.Errorf("%w: no cells, statistics or views", errNames)
	case len(n.Cells)*max(1, len(n.Increments)) > most:
		return nil, fmt.Errorf("%w: above %d numbers", errNames, most)
	case n.EmitEvery == 0 || len(n.Increments) != len(n.Deviations):
		return nil, fmt.Errorf("%w: emit_every, or increments without deviations", errNames)
	}
	return n, n.split()
}

// split splits labels, name=place,name=place, into places. A comma within a place does not end the place, because the
// text after a separating comma must be the name of the next dimension.
func (n *Names) split() error {
	for _, part := range strings.Split(n.Cells[0], ",") {
		if name, _, ok := strings.Cut(part, "="); ok && !slices.Contains(n.dimensions, name) {
			n.dimensions = append(n.dimensions, name)
		}
	}
	for _, label := range n.Cells {
		places := make([]string, len(n.dimensions))
		if label == "other" {
			for i := range places {
				places[i] = label
			}
			n.places = append(n.places, places)
			continue
		}
		rest := label
		for i, name := range n.dimensions {
			own, ok := strings.CutPrefix(rest, name+"=")
			if !ok {
				return fmt.Errorf("%w: a cell without a place in %q", errNames, name)
			}
			rest = ""
			if i+1 < len(n.dimensions) {
				if own, rest, ok = strings.Cut(own, ","+n.dimensions[i+1]+"="); ok {
					rest = n.dimensions[i+1] + "=" + rest
				}
			}
			places[i] = own
		}
		n.places = append(n.places, places)
	}
	n.all = All
	for slices.ContainsFunc(n.places, func(places []string) bool { return slices.Contains(places, n.all) }) {
		n.all = "(" + n.all + ")"
	}
	return nil
}

// Dimensions returns the names of the cells' dimensions.
func (n *Names) Dimensions() []string { return n.dimensions }

// perStep reports whether each decision counts only the events of its own step.
func (n *Names) perStep() bool {
	return n.Period != nil || n.Views[0].Memory == 0 && n.Views[0].Of == "the events of the step"
}

// addsUp returns an error if persons of several periods would be added up, so that a person would count more than once.
func (n *Names) addsUp(by clock.Clock) error {
	if n.Period == nil {
		return nil
	}
	period := time.Duration(n.Period.Seconds) * time.Second
	if by.Divides(period, time.Duration(n.Period.Offset)*time.Second) {
		return nil
	}
	return fmt.Errorf("persons count once in a period of %v, and --every %v with this --timezone adds up parts of several periods: a person "+
		"who comes in two of them would count twice. Take an --every and --timezone of whole parts of a period; persons of a longer time, "+
		"such as a week, are a deployment of its own with ORIEL_USER_PERIOD=7d", period, by.Every)
}

// wantCells returns an error if persons of several cells would be added up who may be in more than one of them.
func (n *Names) wantCells(groups []group) error {
	several := func(g group) bool { return len(g.cells) > 1 }
	if n.Period == nil || n.Period.Cells == 1 || !slices.ContainsFunc(groups, several) {
		return nil
	}
	return fmt.Errorf("a person counts in up to %d cells (ORIEL_PERSON_CELLS), so a sum over cells would count some persons several times: "+
		"leave --by and --total out; with ORIEL_PERSON_CELLS=1 cells add up to persons", n.Period.Cells)
}

// columns returns the columns that are added up: increments or, for per-step releases without them, the columns that
// follow from counts and sums.
func (n *Names) columns() (names []string, deviations []float64, err error) {
	if len(n.Increments) > 0 {
		return n.Increments, n.Deviations, nil
	}
	if !n.perStep() {
		return nil, nil, errors.New("decisions publish no increments, so that steps cannot be added up: ORIEL_INCREMENTS=true in a new deployment")
	}
	if n.EmitEvery != 1 {
		return nil, nil, fmt.Errorf("decisions of steps alone, and only each %d-th is published (ORIEL_EMIT_EVERY)", n.EmitEvery)
	}
	if n.Period != nil {
		return []string{persons}, nil, nil
	}
	for _, name := range []string{count, sum} {
		if slices.Contains(n.Statistics, name) {
			names = append(names, name)
		}
	}
	if len(names) == 0 || names[0] != count {
		return nil, nil, errors.New("decisions of steps alone without counts: ORIEL_STATISTICS has no count")
	}
	return names, nil, nil
}

// groups groups cells by some dimensions. Each group has a place in these dimensions, n.all in the other dimensions,
// and its cells.
func (n *Names) groups(by []string) (groups []group, err error) {
	keep := make([]bool, len(n.dimensions))
	for _, name := range by {
		i := slices.Index(n.dimensions, name)
		if i < 0 {
			return nil, fmt.Errorf("%q is no dimension of the cells, which are %s", name, strings.Join(n.dimensions, ", "))
		}
		keep[i] = true
	}
	seen := map[string]int{}
	for cell, places := range n.places {
		places = slices.Clone(places)
		for i := range places {
			if !keep[i] {
				places[i] = n.all
			}
		}
		key := strings.Join(places, "\x00")
		at, ok := seen[key]
		if !ok {
			at = len(groups)
			seen[key] = at
			groups = append(groups, group{places: places})
		}
		groups[at].cells = append(groups[at].cells, cell)
	}
	return groups, nil
}

// group holds cells whose numbers are added up.
type group struct {
	places []string
	cells  []int
}
