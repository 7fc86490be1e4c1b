package eval

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// Item is one record of a stream. The package owns the record once a Source has passed it on.
type Item struct {
	Stream int32
	Record records.Record
	Place  Place
}

// Place is the position of a record in a file or in a merged topic. It is zero for a record of a partition that is a
// stream, because such a record has an offset.
type Place struct {
	Unit   string // noun for positions, for example "line", "record of a table" or "partition 3, offset"
	Number int64
}

// String returns the place as messages name it.
func (i Item) String() string {
	if i.Place == (Place{}) {
		return fmt.Sprintf("offset %d of partition %d", i.Record.Offset, i.Stream)
	}
	return fmt.Sprintf("%s %d", i.Place.Unit, i.Place.Number)
}

// Source provides the events.
type Source interface {
	// Totals returns the approximate number of records of each stream, by which halves and stretches are divided.
	Totals() []int64
	// Each calls f for each record, in order within each stream.
	Each(ctx context.Context, f func(Item) error) error
}

// Delay is the time until a label becomes known: a number of events of its stream, or a duration after its event.
// Contenders learn from the event only then.
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

// Input holds the settings to compare.
type Input struct {
	Settings []settings.Settings // one for each row; all must decode events in the same way
	Seeds    int                 // number of runs of each setting
	Read     [][]Published       // by row and stream: published decisions that are scored in place of runs; nil: none
	Delay    Delay
	Progress func(events int)
}

// chunk is the number of turns that all contenders take before more records are read.
const chunk = 2048

// turn is an event to predict, or an event whose label has become known.
type turn struct {
	*scoredEvent
	learn bool
}

// contestant is a contender with its score.
type contestant struct {
	contender
	score score
}

// New reads the source once and returns the scores of all contenders, which run concurrently.
func New(ctx context.Context, in Input, source Source) (*Report, error) {
	f, err := newField(in, source.Totals())
	if err != nil {
		return nil, err
	}
	if err := source.Each(ctx, func(i Item) error { return errors.Join(ctx.Err(), f.take(i)) }); err != nil {
		return nil, err
	}
	if err := errors.Join(f.rest(), f.run()); err != nil {
		return nil, err
	}
	return f.report()
}

// field holds all contenders and the turns that they still have to take.
type field struct {
	in       Input
	totals   []int64
	rows     []entry
	racers   []*contestant
	decoder  event.Decoder
	arrivals []Arrival[Item] // by stream; used only if labels are known after a time
	waiting  []labels        // by stream
	seen     []int64
	turns    []turn
	progress int
	odd      int // number of records with odd timestamps
	firstOdd string
}

// entry is a row of the report before it is computed.
type entry struct {
	Row
	rule   *operators.Score
	racers []*contestant // one for each seed
}

func newField(in Input, totals []int64) (*field, error) {
	f := &field{
		in: in, totals: totals, arrivals: make([]Arrival[Item], len(totals)), waiting: make([]labels, len(totals)),
		seen: make([]int64, len(totals)),
	}
	var references []entry
	for i, s := range in.Settings {
		row, err := f.private(i)
		if err != nil {
			return nil, err
		}
		f.rows = append(f.rows, row)
		if slices.ContainsFunc(references, func(r entry) bool { return r.learner == row.learner }) {
			continue
		}
		exact, err := withoutNoise(s)
		if err != nil {
			return nil, err
		}
		c, err := newMachine(exact, row.rule, len(totals), 0)
		if err != nil {
			return nil, err
		}
		references = append(references, entry{
			Row{Name: NoPrivacy, Kind: KindReference, Memory: row.Memory, learner: row.learner}, row.rule, racing(row.rule, c),
		})
	}
	rule := f.rows[0].rule
	f.rows = append(f.rows, references...)
	base := Row{Name: baseName(rule.Predicts), Kind: KindBase}
	f.rows = append(f.rows, entry{base, rule, racing(rule, newBase(rule, len(totals)))})
	for _, e := range f.rows {
		f.racers = append(f.racers, e.racers...)
	}
	return f, nil
}

func racing(rule *operators.Score, c contender) []*contestant {
	return []*contestant{{c, score{rule: rule}}}
}

// private returns the row of the i-th settings, with a contender for each seed, or one that reads published decisions.
func (f *field) private(i int) (entry, error) {
	s := f.in.Settings[i]
	model, row, err := configured(s)
	if err != nil {
		return entry{}, err
	}
	e := entry{Row: row, rule: operators.ScoreOf(model.Learner.Operator())}
	if e.rule == nil {
		return e, fmt.Errorf("ORIEL_OPERATOR: %s: events alone do not tell what its decisions are worth", s.Operator)
	}
	if f.decoder == nil {
		if f.decoder, err = event.OpenDecoder(model.Events); err != nil {
			return e, err
		}
	}
	if f.in.Read != nil {
		e.racers = racing(e.rule, newReader(e.rule, f.in.Read[i]))
		return e, nil
	}
	for seed := range f.in.Seeds {
		c, err := newMachine(model, e.rule, len(f.totals), seed+1)
		if err != nil {
			return e, err
		}
		e.racers = append(e.racers, racing(e.rule, c)...)
	}
	return e, nil
}

// take takes a record of the source.
func (f *field) take(i Item) error {
	if f.in.Delay.Time > 0 {
		return f.late(i)
	}
	number := f.seen[i.Stream]
	return f.at(i, number-1, number+int64(f.in.Delay.Events))
}

// at decodes a record. It adds turns for the record, and for the events whose labels are known by then. now and due are
// times, ms, or numbers of events of the stream that have passed.
func (f *field) at(i Item, now, due int64) error {
	e := &scoredEvent{Item: i, due: due}
	if !i.Record.Unreadable {
		e.valid = f.decoder.Decode(&e.decoded, i.Record.Value) == text.OK
	}
	if e.valid {
		e.decoded.Vector.Indices = slices.Clone(e.decoded.Vector.Indices)
		e.decoded.Vector.Values = slices.Clone(e.decoded.Vector.Values)
		e.decoded.Numbers = slices.Clone(e.decoded.Numbers)
	}
	e.stretch = int(min(f.seen[i.Stream]*Stretches/max(f.totals[i.Stream], 1), Stretches-1))
	f.seen[i.Stream]++
	f.due(i.Stream, now)
	if e.valid {
		f.turns = append(f.turns, turn{e, false})
	}
	f.waiting[i.Stream].add(e)
	if f.in.Delay.Time == 0 {
		f.due(i.Stream, now+1) // the event itself has passed, and teaches at once if the delay is 0
	}
	f.progress++
	if len(f.turns) < chunk {
		return nil
	}
	return f.run()
}

// run lets all contenders take the waiting turns. As many contenders run at a time as there are processors.
func (f *field) run() error {
	err := each(f.racers, func(r *contestant) error { return r.run(f.turns) })
	f.in.Progress(f.progress)
	f.turns, f.progress = f.turns[:0], 0
	return err
}

// each calls do for all elements. As many calls run at a time as there are processors. After a failure it starts no
// further calls.
func each[T any](all []T, do func(T) error) error {
	workers := min(runtime.GOMAXPROCS(0), len(all))
	failed := make([]error, workers)
	var working sync.WaitGroup
	for w := range workers {
		working.Go(func() {
			for i := w; i < len(all) && failed[w] == nil; i += workers {
				failed[w] = do(all[i])
			}
		})
	}
	working.Wait()
	return errors.Join(failed...)
}

func (r *contestant) run(turns []turn) error {
	for _, t := range turns {
		if t.learn {
			if err := r.learn(t.scoredEvent); err != nil {
				return err
			}
			continue
		}
		loss, prediction := r.predict(t.scoredEvent)
		r.score.add(t.stretch, &t.decoded, loss, prediction)
		r.countBand(t.stretch, t.scoredEvent)
	}
	return nil
}
