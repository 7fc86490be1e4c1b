package plan

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"oriel/cmd/internal/plan/clock"
	"oriel/cmd/internal/plan/names"
	"oriel/cmd/internal/plan/opened"
	"oriel/cmd/internal/plan/rates"
)

// New computes a report. It fails if no plan fits the configured mechanism.
func New(in Input) (*Report, error) {
	r := &Report{Ages: in.ages(), LeftOut: []Omitted{}, stream: in.Stream}
	r.describe(in)
	if err := r.answers(in); err != nil {
		return nil, err
	}
	r.sort()
	if err := r.numbers(in); err != nil {
		return nil, err
	}
	r.warn(in)
	r.publish()
	r.byClock(in)
	if in.Configured.Contribution.Names > 0 {
		r.Names = names.New(in.Configured, r.Mechanisms[0].opened.Stream, in.Rate)
	}
	rate := in.Rate
	if in.Input.Count > 1 {
		rate = in.Input.Rate
	}
	r.Streams = rates.StreamsOf(in.Configured, in.Input)
	r.Ceiling = rates.CeilingOf(in.Name, in.Configured, in.Operator, rate, in.Clock.Clock)
	return r, nil
}

// byClock fills in what steps by the clock promise and cost.
func (r *Report) byClock(in Input) {
	if in.Clock.Clock.Counts() {
		return
	}
	of := in.Clock
	of.Guarantee, of.Decision, of.Partition = r.Mechanisms[0].opened.Guarantee, r.Setting.DecisionBytes, in.Input
	of.Outage = rates.WorkOf(in.Name, in.Configured, in.Operator, in.Rate)
	r.Clock = clock.New(of)
}

// answers computes the row of each mechanism that fits, and the figures that follow from the configured one.
func (r *Report) answers(in Input) error {
	variants := in.variants()
	rows := make([]answer, len(variants))
	var done sync.WaitGroup
	for i, v := range variants {
		done.Go(func() { rows[i] = r.answer(in, v) })
	}
	done.Wait()
	for i, a := range rows {
		switch {
		case a.err != nil && in.configured(variants[i]):
			return a.err
		case a.err != nil:
			a.reason = strings.ReplaceAll(a.err.Error(), "mechanisms: ", "")
			fallthrough
		case a.reason != "":
			r.LeftOut = append(r.LeftOut, Omitted{variants[i].name, a.reason})
			continue
		case in.configured(variants[i]):
			if err := r.about(a.row.opened, in); err != nil {
				return err
			}
		}
		a.row.MemoryBytes = a.row.opened.Footprint()
		r.Mechanisms = append(r.Mechanisms, a.row)
	}
	return nil
}

// answer is a mechanism's row, or the reason why the mechanism has no row.
type answer struct {
	row    Mechanism
	reason string
	err    error
}

func (r *Report) answer(in Input, v variant) answer {
	candidate, note, reason := in.candidate(v)
	if reason != "" {
		return answer{reason: reason}
	}
	m, err := opened.New(candidate)
	if err != nil {
		return answer{err: err}
	}
	row, err := r.row(m, note, in.Operator)
	return answer{row: row, err: err}
}

// sort puts the configured mechanism first, and the others in order of their error. Mechanisms that release no prefix
// sums come last.
func (r *Report) sort() {
	rank := func(m Mechanism) int {
		switch {
		case m.Configured:
			return 0
		case m.opened.PerStep():
			return 2
		}
		return 1
	}
	slices.SortStableFunc(r.Mechanisms, func(a, b Mechanism) int {
		return cmp.Or(rank(a)-rank(b), cmp.Compare(a.RMSCoordinate, b.RMSCoordinate))
	})
}
