package numbers

import (
	"context"
	"fmt"

	"oriel/cmd/internal/eval"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
)

// checkpoints is the number of positions along each stream at which numbers are compared with the true ones. They are
// evenly spaced, the last one at the end.
const checkpoints = 64

// machine is an operator that keeps the newest decision of each stream as printed bytes, because only few decisions are
// parsed.
type machine struct {
	*eval.Runner
	lines [][]byte
}

func newMachine(m streams.Model, streams, seed int) (*machine, error) {
	c := &machine{lines: make([][]byte, streams)}
	var err error
	c.Runner, err = eval.NewRunner(m, streams, seed, func(stream int32, line []byte) error {
		c.lines[stream] = append(c.lines[stream][:0], line...)
		return nil
	})
	return c, err
}

// takeAll takes records.
func (c *machine) takeAll(items []eval.Item) error {
	for _, i := range items {
		if err := c.Take(i); err != nil {
			return err
		}
	}
	return nil
}

// decision parses the newest decision of a stream. ok is false if there is none.
func (c *machine) decision(stream int32) (d decision.Decision, ok bool, err error) {
	if len(c.lines[stream]) == 0 {
		return d, false, nil
	}
	d, err = decision.Parse(c.lines[stream])
	return d, err == nil, err
}

// comparison compares the private numbers of a setting, with one machine for each seed, with the true numbers.
type comparison struct {
	*eval.Entry[*machine]
	row     Row
	numbers *operators.Numbers
	tallies []tally           // accuracy of the numbers, by statistic and memory
	counted map[[2]int]uint64 // by stream and seed: step of the last release that was counted
}

// tally accumulates the accuracy of the numbers of one statistic and memory, over cells, checkpoints, streams and
// seeds.
type tally struct {
	statistic, memory string
	squares           float64 // sum of squared errors of shown numbers
	shown             int
	halves            []float64
	covered, total    int
}

// New runs the settings over the source, and the same operators without noise, and reports the accuracy of the private
// numbers. It needs no labels.
func New(ctx context.Context, in eval.Input, source eval.Source) (*Report, error) {
	totals := source.Totals()
	entries, machines, err := eval.Enter(in,
		func(_ int, e *eval.Entry[*machine], m streams.Model, seed int) (*machine, error) {
			if operators.NumbersOf(e.Operator) == nil {
				return nil, fmt.Errorf("ORIEL_OPERATOR: %s: its decisions are no numbers about events", e.Settings.Operator)
			}
			return newMachine(m, len(totals), seed)
		})
	if err != nil {
		return nil, err
	}
	var all []*comparison
	for _, e := range entries {
		all = append(all, &comparison{
			Entry: e, row: Row{RowHead: e.Head}, numbers: operators.NumbersOf(e.Operator), counted: map[[2]int]uint64{},
		})
	}
	feed := eval.Feed[*machine, eval.Item]{Machines: machines, Take: (*machine).takeAll}
	events, seen := 0, make([]int64, len(totals))
	// At the end of each stretch of a stream, all machines take the records so far.
	take := func(i eval.Item) error {
		events++
		before := seen[i.Stream] * checkpoints / max(totals[i.Stream], 1)
		seen[i.Stream]++
		if err := feed.Add(i); err != nil || seen[i.Stream]*checkpoints/max(totals[i.Stream], 1) == before {
			return err
		}
		if err := feed.Flush(); err != nil {
			return err
		}
		for _, x := range all {
			if err := x.compareAt(i.Stream); err != nil {
				return err
			}
		}
		return nil
	}
	if err := eval.Read(ctx, source, take); err != nil {
		return nil, err
	}
	if err := feed.Flush(); err != nil {
		return nil, err
	}
	return newReport(in, all, events, totals)
}

// compareAt compares the newest numbers of a stream with the true numbers.
func (x *comparison) compareAt(stream int32) error {
	truth, ok, err := x.Exact.decision(stream)
	if err != nil || !ok {
		return err
	}
	exact, err := x.exact(truth)
	if err != nil {
		return err
	}
	for seed, c := range x.Private {
		d, _, err := c.decision(stream)
		if err != nil {
			return err
		}
		shown, err := x.beside(d, exact)
		if err != nil {
			return err
		}
		if of := [2]int{int(stream), seed}; x.counted[of] != d.Step { // this release has not been counted yet
			x.counted[of] = d.Step
			x.row.releases++
			x.count(shown)
		}
		if stream == 0 && seed == 0 {
			x.row.Steps, x.row.Last = append(x.row.Steps, d.Step), shown
		}
	}
	return nil
}
