package numbers

import (
	"errors"
	"maps"
	"slices"
	"time"

	"oriel/cmd/internal/numbers/clock"
)

// Row is a statistic of a cell, or of a marginal, in an interval of the clock.
type Row struct {
	Start, End time.Time
	Places     []string // place in each dimension; Names.all if the row sums over the dimension
	Steps      uint64   // number of steps that are added up
	Of         uint64   // number of steps in the interval; 0: not known, because steps are by count
	Statistic  string
	Number
}

// Query selects rows.
type Query struct {
	By         []string // dimensions to group by; nil: all
	Total      bool     // add a row for all cells together
	Statistics []string // statistics of the rows; nil: those that decisions show
	Last       time.Duration
	From, To   time.Time // time range [From, To); zero: no bound
}

// errNothing reports that no decision is in the requested intervals.
var errNothing = errors.New("no decision in the intervals that are asked for")

// Rows returns the rows of a query: by interval, then by group, then by statistic. The query's Last intervals end with
// the interval of the newest decision whose time is not odd; see clock.Arrivals.Newest.
func (c *Collector) Rows(q Query) ([]Row, error) {
	by := q.By
	if by == nil {
		by = c.names.dimensions
	}
	groups, err := c.names.groups(by)
	if err != nil {
		return nil, err
	}
	if q.Total && len(groups) > 1 {
		all, _ := c.names.groups(nil)
		groups = append(groups, all...)
	}
	if err := c.names.wantCells(groups); err != nil {
		return nil, err
	}
	names := q.Statistics
	if names == nil {
		names = c.names.Statistics
	}
	var statistics []statistic
	for _, name := range names {
		s, err := c.names.statistic(name, c.columns)
		if err != nil {
			return nil, err
		}
		statistics = append(statistics, s)
	}
	var rows []Row
	newest, _ := c.Newest(q.Last)
	for _, key := range slices.Sorted(maps.Keys(c.partials)) {
		start, end := c.Bounds(key)
		if !q.holds(c.Clock, start, end, newest) {
			continue
		}
		variances, steps := c.variances(key)
		for _, g := range groups {
			sums := c.sums(key, g)
			own, spread := slices.Clone(variances), c.spread(key, len(g.cells))
			for i := range own {
				own[i] *= float64(len(g.cells))
			}
			for _, s := range statistics {
				number := s.at(sums, own, spread).each(settled)
				rows = append(rows, Row{start, end, g.places, steps, c.Steps(), c.named(s.name), number})
			}
		}
	}
	if len(rows) == 0 {
		return nil, errNothing
	}
	return rows, nil
}

// named returns the name of a statistic in an interval. Persons of a part of their period are those who are new in it.
func (c *Collector) named(statistic string) string {
	if statistic == persons && c.Every < time.Duration(c.names.Period.Seconds)*time.Second {
		return "new " + persons
	}
	return statistic
}

// holds reports whether a query selects an interval; newest is the time of the newest decision, ms.
func (q Query) holds(c clock.Clock, start, end time.Time, newest int64) bool {
	return !(!q.From.IsZero() && start.Before(q.From) || !q.To.IsZero() && end.After(q.To) ||
		q.Last > 0 && c.Every > 0 && start.Before(c.Start(c.Key(newest)+1).Add(-q.Last)))
}

// variances returns the variances of a cell's columns in an interval, and the number of its steps.
func (c *Collector) variances(key int64) (variances []float64, steps uint64) {
	variances = make([]float64, len(c.columns))
	for _, of := range c.streams(key) {
		p := c.partials[key][of]
		p.spans = join(p.spans)
		for _, s := range p.spans {
			steps += s.steps()
		}
		if p.filter == nil {
			for i := range variances {
				variances[i] += p.variance[i]
			}
			continue
		}
		v := p.ofCount()
		for i, unit := range c.units {
			variances[i] += v * unit * unit
		}
	}
	return variances, steps
}

// sums returns the sums of a group's columns in an interval.
func (c *Collector) sums(key int64, g group) []float64 {
	sums, cells := make([]float64, len(c.columns)), len(c.names.Cells)
	for _, of := range c.streams(key) {
		p := c.partials[key][of]
		for column := range sums {
			for _, cell := range g.cells {
				sums[column] += p.sums[column*cells+cell]
			}
		}
	}
	return sums
}

// streams returns the streams of an interval in a fixed order, so that sums have the same bytes each time.
func (c *Collector) streams(key int64) []clock.Stream {
	return slices.SortedFunc(maps.Keys(c.partials[key]), clock.Stream.Compare)
}
