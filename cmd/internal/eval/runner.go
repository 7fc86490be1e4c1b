package eval

import (
	"errors"
	"fmt"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/event"
	"oriel/schemas/text"
)

// runner is an operator that runs over the records of all streams, as in the service.
type runner struct {
	walks   []*streams.Walk
	record  [1]records.Record
	reasons map[text.Code]int // number of null events by reason
	first   string            // the first null event
	item    Item              // the current record
	decoder event.Decoder     // describes what is wrong with a record

	accepted func(stream int32, value []byte) // called for each valid event; nil: not called
	err      error
}

// newRunner opens count streams of a model. A stream is a partition with its own noise. newRunner calls decided with
// each decision of the first topic as printed bytes, which are valid during the call.
func newRunner(m streams.Model, count, seed int, decided func(stream int32, line []byte) error) (*runner, error) {
	plan, err := m.Learner.Params()
	if err != nil {
		return nil, err
	}
	opened, err := streams.OpenModel(m, plan)
	if err != nil {
		return nil, err
	}
	decoder, err := event.OpenDecoder(m.Events)
	if err != nil {
		return nil, err
	}
	r := &runner{reasons: map[text.Code]int{}, decoder: decoder}
	for p := range int32(count) {
		stream, err := open(m, plan, opened, p, seed)
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
			Taken: func(record *records.Record, _ int64, code text.Code) { r.taken(p, record, code) },
		}
		r.walks = append(r.walks, walk)
		walk.Start()
	}
	return r, r.err
}

func (r *runner) taken(stream int32, record *records.Record, code text.Code) {
	if code == text.OK {
		if r.accepted != nil {
			r.accepted(stream, record.Value)
		}
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

// countNull adds the number of null events to counts, by reason, and returns the total.
func (r *runner) countNull(counts map[string]int) (null int) {
	for code, n := range r.reasons {
		counts[code.String()] = n
		null += n
	}
	return null
}

// take processes a record.
func (r *runner) take(i Item) error {
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
