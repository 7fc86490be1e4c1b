package eval

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/schemas"
)

// checkpoints is the number of positions along each stream at which numbers are compared with the true ones. They are
// evenly spaced, the last one at the end.
const checkpoints = 64

// Publishes reports whether the operator publishes numbers about its events. NewNumbers compares such numbers with the
// true ones; New cannot score them.
func Publishes(s settings.Settings) bool { return operators.NumbersOf(s.Learner().Operator()) != nil }

// counter is an operator that keeps the newest decision of each stream as printed bytes, because only few decisions are
// parsed.
type counter struct {
	*runner
	lines [][]byte
}

func newCounter(m streams.Model, streams, seed int) (*counter, error) {
	c := &counter{lines: make([][]byte, streams)}
	var err error
	c.runner, err = newRunner(m, streams, seed, func(stream int32, line []byte) error {
		c.lines[stream] = append(c.lines[stream][:0], line...)
		return nil
	})
	return c, err
}

// decision parses the newest decision of a stream. ok is false if there is none.
func (c *counter) decision(stream int32) (d schemas.Decision, ok bool, err error) {
	if len(c.lines[stream]) == 0 {
		return d, false, nil
	}
	d, err = schemas.ParseDecision(c.lines[stream])
	return d, err == nil, err
}

// truthComparison compares the private numbers of a setting, with one counter for each seed, with the true numbers.
type truthComparison struct {
	row     NumbersRow
	numbers *operators.Numbers
	private []*counter
	truth   *counter
	tallies []shownTally      // accuracy of the numbers, by statistic and memory
	counted map[[2]int]uint64 // by stream and seed: step of the last release that was counted
}

// shownTally accumulates the accuracy of the numbers of one statistic and memory, over cells, checkpoints, streams and
// seeds.
type shownTally struct {
	statistic, memory string
	squares           float64 // sum of squared errors of shown numbers
	shown             int
	halves            []float64
	covered, total    int
}

// NewNumbers runs the settings over the source, and the same operators without noise, and reports the accuracy of the
// private numbers. It needs no labels.
func NewNumbers(ctx context.Context, in Input, source Source) (*NumbersReport, error) {
	totals := source.Totals()
	var pairs []*truthComparison
	truths := map[string]*counter{} // counters without noise, by learner
	for _, s := range in.Settings {
		x, err := newPairing(s, in.Seeds, totals, truths)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, x)
	}
	f := numbersField{in: in, pairs: pairs, totals: totals, seen: make([]int64, len(totals))}
	for _, x := range pairs {
		f.counters = append(f.counters, x.private...)
		if !slices.Contains(f.counters, x.truth) {
			f.counters = append(f.counters, x.truth)
		}
	}
	if err := source.Each(ctx, func(i Item) error { return errors.Join(ctx.Err(), f.take(i)) }); err != nil {
		return nil, err
	}
	if err := f.run(); err != nil {
		return nil, err
	}
	return f.report()
}

func newPairing(s settings.Settings, seeds int, totals []int64, truths map[string]*counter) (*truthComparison, error) {
	model, row, err := configured(s)
	if err != nil {
		return nil, err
	}
	operator := model.Learner.Operator()
	x := &truthComparison{numbers: operators.NumbersOf(operator), counted: map[[2]int]uint64{}}
	if x.numbers == nil {
		return nil, fmt.Errorf("ORIEL_OPERATOR: %s: its decisions are no numbers about events", s.Operator)
	}
	x.row = NumbersRow{rowHead: row.head()}
	for seed := range seeds {
		c, err := newCounter(model, len(totals), seed+1)
		if err != nil {
			return nil, err
		}
		x.private = append(x.private, c)
	}
	if x.truth = truths[row.learner]; x.truth != nil {
		return x, nil
	}
	exact, err := silenced(s, x.numbers.Exact)
	if err != nil {
		return nil, err
	}
	x.truth, err = newCounter(exact, len(totals), 0)
	truths[row.learner] = x.truth
	return x, err
}

// numbersField passes the records of one stretch at a time to all counters.
type numbersField struct {
	in       Input
	pairs    []*truthComparison
	counters []*counter
	totals   []int64
	seen     []int64
	items    []Item
	events   int
}

// take keeps a record. If the record ends a stretch of its stream, the counters take all records kept so far.
func (f *numbersField) take(i Item) error {
	f.items = append(f.items, i)
	f.events++
	before := f.seen[i.Stream] * checkpoints / max(f.totals[i.Stream], 1)
	f.seen[i.Stream]++
	after := f.seen[i.Stream] * checkpoints / max(f.totals[i.Stream], 1)
	switch {
	case after > before:
		if err := f.run(); err != nil {
			return err
		}
		return f.compareAt(i.Stream)
	case len(f.items) == chunk:
		return f.run()
	}
	return nil
}

// run lets all counters take the waiting records. As many counters run at a time as there are processors.
func (f *numbersField) run() error {
	err := each(f.counters, func(c *counter) error {
		for _, item := range f.items {
			if err := c.take(item); err != nil {
				return err
			}
		}
		return nil
	})
	f.in.Progress(len(f.items))
	f.items = f.items[:0]
	return err
}

// compareAt compares the newest numbers of a stream with the true numbers.
func (f *numbersField) compareAt(stream int32) error {
	for _, x := range f.pairs {
		truth, ok, err := x.truth.decision(stream)
		if err != nil || !ok {
			return err
		}
		exact, err := x.exact(truth)
		if err != nil {
			return err
		}
		for seed, c := range x.private {
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
				x.row.Steps, x.row.path = append(x.row.Steps, d.Step), append(x.row.path, shown)
			}
		}
	}
	return nil
}
