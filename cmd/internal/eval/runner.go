package eval

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// Runner is an operator that runs over the records of all streams, as in the service.
type Runner struct {
	walks   []*streams.Walk
	record  [1]records.Record
	reasons map[text.Code]int // number of null events by reason
	first   string            // the first null event
	item    Item              // the current record
	decoder event.Decoder     // describes what is wrong with a record
	err     error
}

// NewRunner opens count streams of a model. A stream is a partition with its own noise. NewRunner calls decided with
// each decision of the first topic as printed bytes, which are valid during the call.
func NewRunner(m streams.Model, count, seed int, decided func(stream int32, line []byte) error) (*Runner, error) {
	params, err := m.Learner.Params()
	if err != nil {
		return nil, err
	}
	opened, err := streams.OpenModel(m, params)
	if err != nil {
		return nil, err
	}
	decoder, err := event.OpenDecoder(m.Events)
	if err != nil {
		return nil, err
	}
	r := &Runner{reasons: map[text.Code]int{}, decoder: decoder}
	for p := range int32(count) {
		stream, err := open(m, params, opened, p, seed)
		if err != nil {
			return nil, err
		}
		walk := &streams.Walk{
			Stream: stream, Partition: p,
			Decided: func(output uint8, _, line []byte) {
				if output == 0 && r.err == nil {
					r.err = decided(p, line)
				}
			},
			Taken: func(record *records.Record, _ int64, code text.Code) { r.taken(record, code) },
		}
		r.walks = append(r.walks, walk)
		walk.Start()
	}
	return r, r.err
}

func (r *Runner) taken(record *records.Record, code text.Code) {
	if code == text.OK {
		return
	}
	if r.reasons[code]++; r.first == "" {
		var event event.Event
		text := fmt.Sprintf("%s: %s", code, code.Rule())
		// If the decoder accepts the event, its user or its key is what makes it null.
		if !record.Unreadable && r.decoder.Decode(&event, record.Value) == code {
			text = r.decoder.Problem(record.Value, code)
		}
		r.first = fmt.Sprintf("%v: %s", r.item, text)
	}
}

// Nulls returns the number of null events, by reason and in all. text lists the reasons, the most frequent one first,
// and says which event was the first; it is empty if there are none.
func (r *Runner) Nulls() (total int, reasons map[string]int, text string) {
	reasons = map[string]int{}
	for code, n := range r.reasons {
		reasons[code.String()] = n
		total += n
	}
	if total == 0 {
		return 0, reasons, ""
	}
	names := slices.Collect(maps.Keys(reasons))
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(reasons[b]-reasons[a], strings.Compare(a, b)) })
	for i, name := range names {
		names[i] = fmt.Sprintf("%s %d", name, reasons[name])
	}
	return total, reasons, " (" + strings.Join(names, ", ") + "); the first is " + r.first
}

// Take processes a record.
func (r *Runner) Take(i Item) error {
	walk := r.walks[i.Stream]
	r.record[0], r.item = i.Record, i
	b := fetch.Batch{Partition: walk.Partition, From: walk.Position.Next, Next: i.Record.Offset + 1, Records: r.record[:]}
	err := walk.Take(&b, func() int64 { return b.Next })
	if errors.Is(err, streams.ErrEnded) {
		return fmt.Errorf("%v: the horizon is reached: the stream ends after %d steps (ORIEL_HORIZON)", i,
			walk.Stream.Steps())
	}
	return errors.Join(err, r.err)
}
