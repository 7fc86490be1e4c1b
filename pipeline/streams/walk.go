package streams

import (
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
	"oriel/schemas/text"
	"oriel/state"
	"oriel/state/users"
)

// Walk takes the records of one stream, in order and from a position on: records of one partition of the input, or of a
// whole topic in the order of its order log. The service, the repair of a torn transaction and every replay use it, so
// that all of them give the same bytes. It does no I/O, and its results may be dropped at any record.
//
// An event that is left out, or taken twice, would be a second history. So batches must join, which Take checks.
type Walk struct {
	Stream    *Stream
	Partition int32 // partition of the deployment's topics

	// Position is the position after the last record taken; its Step counts the steps that the stream has closed. A
	// Walk changes the memory behind the position's pointers, so a caller that starts from another Walk's position must
	// clone it.
	Position state.Position

	// Decided is called with each decision: its topic, 0 or 1 (operators.Decision.Output), its record key, and its
	// line. Key and line are valid only during the call.
	Decided func(output uint8, key, line []byte)

	// Taken is called with each record, the number of offsets before it without a record, and the record's code:
	// text.OK, or the reason why it is a null event.
	Taken func(r *records.Record, gap int64, code text.Code)

	// Moved is called with the offsets of a partition of the input that a whole topic's stream has passed, with records
	// or without. Neighbouring offsets may come in several calls. Nil: not called.
	Moved func(partition int32, from, to int64)

	Users UserIndex // shared by all walks of the process; nil if user ids are not compared between partitions

	decisions []operators.Decision
	line      []byte
}

// UserIndex records which partition remembers which user. It must be safe for concurrent use, because all walks of a
// process share it.
type UserIndex interface {
	// Add adds a user BEFORE the record is taken. An error stops the walk.
	Add(partition int32, user users.ID) error

	// Remove removes a user that a partition no longer remembers.
	Remove(partition int32, user users.ID)
}

// Untaken is an offset beyond every log: a walk up to Untaken takes all records.
const Untaken = math.MaxInt64

// ErrEnded means that a record follows the last step that the stream's guarantee covers. The walk's position is before
// this record.
var ErrEnded = errors.New("pipeline: the horizon is reached: the stream has closed all the steps that its guarantee is for")

// Start makes the decisions that a stream owes before its first record. It must be called once, because it changes the
// state.
func (w *Walk) Start() {
	w.Position.Owes = false
	w.decisions = w.Stream.machine.Open(w.decisions[:0])
	w.decide()
}

// Take takes a batch, which must start at the walk's position. Before each record, and before the offsets after the
// last one, it calls until, and stops before the offset that until returns, in the unit of Position.Next. It stops with
// ErrEnded, or with an error of UserIndex, before a record that must not be taken; all earlier records are taken.
func (w *Walk) Take(b *fetch.Batch, until func() int64) error { return w.TakeDecoded(b, nil, until) }

// TakeDecoded is Take for a batch whose first records were decoded ahead: events must be of this batch, or nil.
func (w *Walk) TakeDecoded(b *fetch.Batch, events *Events, until func() int64) error {
	w.expect(b)
	for i := range b.Records {
		r := &b.Records[i]
		if end := until(); r.Offset+b.Shift >= end {
			w.skipTo(b, end)
			return nil
		}
		if err := w.step(b, r, events.of(b, i)); err != nil {
			return err
		}
	}
	w.skipTo(b, until())
	return nil
}

// expect panics at a batch that does not start at the walk's position.
func (w *Walk) expect(b *fetch.Batch) {
	at := &w.Position
	if b.From+b.Shift != at.Next {
		panic(fmt.Sprintf("BUG: pipeline: batch starts at offset %d, the state stands at %d", b.From+b.Shift, at.Next))
	}
	switch {
	case at.Order == nil:
		if b.Order != nil || b.Partition != w.Partition {
			panic(fmt.Sprintf("BUG: pipeline: a batch of partition %d in the stream of partition %d", b.Partition, w.Partition))
		}
	case b.Order == nil:
		if b.Next != b.From {
			panic("BUG: pipeline: a batch without a place in the order of its topic")
		}
	default:
		if part, ok := at.Order.Part(b.Partition); ok && part.Next != b.From {
			panic(fmt.Sprintf("BUG: pipeline: batch of partition %d starts at offset %d, the state stands at %d",
				b.Partition, b.From, part.Next))
		}
	}
}

// skipTo moves to the end of a batch, or to an earlier end, over offsets without a record to take.
func (w *Walk) skipTo(b *fetch.Batch, end int64) {
	switch next := min(b.Next+b.Shift, end) - b.Shift; {
	case next == b.Next:
		w.reach(b, next, b.LeaderEpoch)
		if o := b.Order; o != nil && o.Done {
			w.Position.Order.Next, w.Position.Order.LeaderEpoch = o.Record+1, o.LeaderEpoch
		}
	case next+b.Shift > w.Position.Next:
		// The last epoch of the batch may begin after end. The position must not have it, because to the broker the log
		// before end would then look truncated.
		w.reach(b, next, b.EpochAt(next, w.epoch(b.Partition)))
	}
}

// epoch returns the leader epoch of the last record batch that the walk has read in a partition of the input.
func (w *Walk) epoch(partition int32) int32 {
	if w.Position.Order == nil {
		return w.Position.LeaderEpoch
	}
	part, _ := w.Position.Order.Part(partition)
	return part.LeaderEpoch
}

// reach moves the position to offset next of a batch; epoch is the leader epoch of the record batch before it.
func (w *Walk) reach(b *fetch.Batch, next int64, epoch int32) {
	at := &w.Position
	passed := next + b.Shift - at.Next
	at.Next += passed
	if at.Order == nil {
		at.LeaderEpoch = epoch
		return
	}
	if passed == 0 && next == b.From {
		return // no offset of the partition was taken, and the order may not have it yet
	}
	at.Order.Next, at.Order.LeaderEpoch = b.Order.Record, b.Order.LeaderEpoch
	at.Order.Set(state.OrderedPart{Partition: b.Partition, Next: next, LeaderEpoch: epoch, Ordered: b.Order.Epoch})
	if passed > 0 && w.Moved != nil {
		w.Moved(b.Partition, next-passed, next)
	}
}

// step takes one record of a batch. ahead is its decoded event, or nil if step must decode it.
func (w *Walk) step(b *fetch.Batch, r *records.Record, ahead *aheadEvent) error {
	s, at := w.Stream, &w.Position
	gap := r.Offset + b.Shift - at.Next
	if gap < 0 {
		panic(fmt.Sprintf("BUG: pipeline: a record at offset %d, the state stands at %d", r.Offset+b.Shift, at.Next))
	}
	if s.ended() {
		return ErrEnded
	}
	code, err := w.admit(r)
	if err != nil {
		return err
	}
	event := &s.opened.event
	switch {
	case code != text.OK:
	case ahead != nil:
		code, event = ahead.code, &ahead.event
	default:
		code = decode(s.opened.decoder, event, b.Partition, r)
	}
	record := operators.Record{
		Identity: noise.Identity{Topic: at.Topic, Partition: b.Partition, Offset: r.Offset, LeaderEpoch: r.LeaderEpoch},
		Null:     code != text.OK,
	}
	if s.opened.model.Keyed {
		record.Key = r.Key
	}
	if !record.Null {
		record.Event = *event
	}
	s.time.take(r.Timestamp)
	before := s.machine.Steps()
	w.decisions = s.machine.Add(w.decisions[:0], record)
	w.decide()
	if at.Step = s.machine.Steps(); at.Step != before {
		s.time = stepTime(decision.NoTime)
	}
	w.reach(b, r.Offset+1, r.LeaderEpoch)
	w.Taken(r, gap, code)
	return nil
}

// admit applies the separation of users. An invalid event counts like a valid one: afterwards its user must wait.
func (w *Walk) admit(r *records.Record) (text.Code, error) {
	s := w.Stream
	if s.limiter == nil {
		return text.OK, nil
	}
	step := s.machine.Steps() + 1
	s.limiter.Forget(step, w.userForgotten) // BEFORE the lookup, so that expired users are not found
	name := s.opened.model.Users.name(r)
	if len(name) == 0 {
		return text.NoUser, nil
	}
	user := s.limiter.ID(name)
	if w.Users != nil {
		if err := w.Users.Add(w.Partition, user); err != nil {
			return text.OK, err
		}
	}
	if !s.limiter.Admit(step, user) {
		return text.TooSoon, nil
	}
	return text.OK, nil
}

func (w *Walk) userForgotten(user users.ID) {
	if w.Users != nil {
		w.Users.Remove(w.Partition, user)
	}
}

func (w *Walk) decide() {
	time := int64(w.Stream.time)
	for _, d := range w.decisions {
		if d.Output >= DecisionTopics || d.Output > 0 && w.Stream.opened.output == nil {
			panic(fmt.Sprintf("BUG: pipeline: a decision for topic %d, which the operator does not have", d.Output))
		}
		w.line = w.Stream.encoder.AppendTimed(w.line[:0], d.Index, d.Step, time, d.Point, d.Extras)
		w.Decided(d.Output, w.Stream.recordKey(d), w.line)
	}
}
