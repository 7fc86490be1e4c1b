package numbers

import (
	"math"
	"time"

	"oriel/cmd/internal/numbers/clock"
	"oriel/operators"
	"oriel/schemas/decision"
)

// total adds the steps of each interval of the clock up, and keeps the rows of the newest whole interval.
type total struct {
	collector  *Collector
	statistics []string
	rows       []operators.Estimate // by statistic, then by cell
}

// WithTotals returns numbers that also have the totals of the newest whole hour and day, if they are made of several
// steps of this length. descriptor describes the decisions. Read must get the decisions of one stream in their order.
// An interval that lacks a step is left out: the totals then stay those of the interval before.
func WithTotals(n *operators.Numbers, descriptor []byte, step time.Duration) (*operators.Numbers, error) {
	var totals []*total
	with := *n
	for _, span := range []struct {
		name  string
		every time.Duration
	}{{"hour", time.Hour}, {"day", 24 * time.Hour}} {
		if step <= 0 || span.every <= step || span.every%step != 0 {
			continue
		}
		names, err := ParseNames(descriptor)
		if err != nil {
			return nil, err
		}
		t := &total{}
		if t.collector, err = NewCollector(names, clock.Clock{Every: span.every}); err != nil {
			continue // decisions have no counts
		}
		for _, name := range names.Statistics {
			if _, err := names.statistic(name, t.collector.columns); err != nil {
				continue // variances and quantiles of several steps need increments
			}
			t.statistics = append(t.statistics, name)
			at := 0
			for n.Names[at].Statistic != name { // the steps have the number too
				at++
			}
			for cell := range names.Cells {
				of := n.Names[at+cell]
				of.Memory = span.name
				with.Names = append(with.Names[:len(with.Names):len(with.Names)], of)
				t.rows = append(t.rows, operators.Estimate{})
			}
		}
		totals = append(totals, t)
	}
	with.Read = func(d decision.Decision) ([]operators.Estimate, error) {
		all, err := n.Read(d)
		for _, t := range totals {
			t.add(d)
			all = append(all, t.rows...)
		}
		return all, err
	}
	return &with, nil
}

// add takes a decision. At the end of an interval it computes the rows of the interval, if all steps are there.
func (t *total) add(d decision.Decision) {
	c := t.collector
	if c.Add(d, d.Time()) != nil {
		return // a decision that was taken before
	}
	key := c.Key(d.Time() - 1)
	for before := range c.partials {
		if before != key {
			delete(c.partials, before)
		}
	}
	if c.Key(d.Time()) == key {
		return
	}
	rows, err := c.Rows(Query{Statistics: t.statistics})
	if err != nil || rows[0].Steps != rows[0].Of {
		return
	}
	for i, r := range rows { // by cell, then by statistic
		cell, k := i/len(t.statistics), i%len(t.statistics)
		t.rows[k*len(c.names.Cells)+cell] = operators.Estimate{
			Value: r.Value, Low: r.Low, High: r.High, Shown: !math.IsNaN(r.Value),
		}
	}
}
