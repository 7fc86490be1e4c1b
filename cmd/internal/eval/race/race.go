package race

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"oriel/cmd/internal/eval"
	"oriel/operators"
	"oriel/pipeline/streams"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// Options configures a race.
type Options struct {
	Delay Delay
	Read  [][]Published // by setting and stream: published decisions that are scored in place of runs; nil: none
}

// Delay is the time until a label becomes known: a number of events of its stream, or a duration after its event.
// Predictors learn from the event only then.
type Delay struct {
	Events int
	Time   time.Duration
}

func (d Delay) String() string {
	switch {
	case d.Time > 0:
		return d.Time.String()
	case d.Events == 1:
		return "1 event"
	}
	return fmt.Sprintf("%d events", d.Events)
}

// task is an event to predict, or an event whose label has become known.
type task struct {
	*scoredEvent
	learn bool
}

// scored is a predictor with its score.
type scored struct {
	predictor
	score score
}

// New reads the source once and returns the scores of all predictors, which run concurrently.
func New(ctx context.Context, in eval.Input, source eval.Source, o Options) (*Report, error) {
	r, err := newRace(in, source.Totals(), o)
	if err != nil {
		return nil, err
	}
	if err := eval.Read(ctx, source, r.take); err != nil {
		return nil, err
	}
	if err := errors.Join(r.rest(), r.feed.Flush()); err != nil {
		return nil, err
	}
	return r.report()
}

// race holds all predictors and the tasks that they still have to do.
type race struct {
	in       eval.Input
	delay    Delay
	totals   []int64
	entries  []*eval.Entry[*scored]
	base     *scored
	rule     *operators.Score // of the first entry
	feed     eval.Feed[*scored, task]
	decoder  event.Decoder
	arrivals []eval.Arrival[eval.Item] // by stream; used only if labels are known after a time
	waiting  []labels                  // by stream
	seen     []int64
	odd      int // number of records with odd timestamps
	firstOdd string
}

func newRace(in eval.Input, totals []int64, o Options) (*race, error) {
	r := &race{
		in: in, delay: o.Delay, totals: totals, arrivals: make([]eval.Arrival[eval.Item], len(totals)),
		waiting: make([]labels, len(totals)), seen: make([]int64, len(totals)),
	}
	open := func(i int, e *eval.Entry[*scored], m streams.Model, seed int) (*scored, error) {
		rule, err := operators.ScoreOf(e.Operator), error(nil)
		if rule == nil {
			return nil, fmt.Errorf("ORIEL_OPERATOR: %s: events alone do not show how good its decisions are", e.Settings.Operator)
		}
		if r.decoder == nil {
			r.rule = rule
			if r.decoder, err = event.OpenDecoder(m.Events); err != nil {
				return nil, err
			}
		}
		if o.Read != nil && seed > 0 {
			return &scored{newReader(rule, o.Read[i]), score{rule: rule}}, nil
		}
		p, err := newMachine(m, rule, len(totals), seed)
		return &scored{p, score{rule: rule}}, err
	}
	var err error
	r.entries, r.feed.Machines, err = eval.Enter(in, open)
	if err != nil {
		return nil, err
	}
	r.base = &scored{newBase(r.rule, len(totals)), score{rule: r.rule}}
	r.feed.Machines, r.feed.Take = append(r.feed.Machines, r.base), (*scored).do
	return r, nil
}

// take takes a record of the source.
func (r *race) take(i eval.Item) error {
	if r.delay.Time > 0 {
		return r.late(i)
	}
	number := r.seen[i.Stream]
	return r.at(i, number-1, number+int64(r.delay.Events))
}

// at decodes a record. It adds tasks for the record, and for the events whose labels are known by then. now and due are
// times, ms, or numbers of events of the stream that have passed.
func (r *race) at(i eval.Item, now, due int64) error {
	e := &scoredEvent{Item: i, due: due}
	if !i.Record.Unreadable {
		e.valid = r.decoder.Decode(&e.decoded, i.Record.Value) == text.OK
	}
	if e.valid {
		e.decoded.Vector.Indices = slices.Clone(e.decoded.Vector.Indices)
		e.decoded.Vector.Values = slices.Clone(e.decoded.Vector.Values)
		e.decoded.Numbers = slices.Clone(e.decoded.Numbers)
	}
	e.stretch = int(min(r.seen[i.Stream]*Stretches/max(r.totals[i.Stream], 1), Stretches-1))
	r.seen[i.Stream]++
	if err := r.due(i.Stream, now); err != nil {
		return err
	}
	if e.valid {
		if err := r.feed.Add(task{e, false}); err != nil {
			return err
		}
	}
	r.waiting[i.Stream].add(e)
	if r.delay.Time > 0 {
		return nil
	}
	return r.due(i.Stream, now+1) // the event itself has passed, and teaches at once if the delay is 0
}

// do predicts events and learns from them.
func (s *scored) do(tasks []task) error {
	for _, t := range tasks {
		if t.learn {
			if err := s.learn(t.scoredEvent); err != nil {
				return err
			}
			continue
		}
		loss, prediction := s.predict(t.scoredEvent)
		s.score.add(t.stretch, &t.decoded, loss, prediction)
		s.countBand(t.stretch, t.scoredEvent)
	}
	return nil
}
