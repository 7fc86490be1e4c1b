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

	// Passes is called by the clock, before the walk moves its slot forward to a slot. The order record whose records it
	// takes closes the slots up to closes. ends reports that the move closes the step that ends at the slot. If Passes
	// returns false, the walk stops before the move. Nil: every move is made.
	Passes func(slot, closes int64, ends bool) bool

	Users UserIndex // shared by all walks of the process; nil if user ids are not compared between partitions

	// KeepsNewest makes the walk keep the values of its newest decision for the first topic, which Newest returns.
	KeepsNewest bool

	decisions []operators.Decision
	line      []byte
	newest    newest
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
	if b.Order != nil {
		if passed, err := w.pass(b.Order, b.Order.Slot); !passed {
			return err
		}
	}
	for i := range b.Records {
		r := &b.Records[i]
		if end := until(); r.Offset+b.Shift >= end {
			return w.skipTo(b, end)
		}
		events.warm(w.Stream, i)
		if err := w.step(b, r, events, i); err != nil {
			return err
		}
	}
	return w.skipTo(b, until())
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
func (w *Walk) skipTo(b *fetch.Batch, end int64) error {
	switch next := min(b.Next+b.Shift, end) - b.Shift; {
	case next == b.Next:
		w.reach(b, next, b.LeaderEpoch)
		if o := b.Order; o != nil && o.Done != nil {
			if w.Position.Order.Clock {
				_, err := w.pass(o, o.Done.Slot)
				return err
			}
			leave(w.Position.Order, o)
		}
	case next+b.Shift > w.Position.Next:
		// The last epoch of the batch may begin after end. The position must not have it, because to the broker the log
		// before end would then look truncated.
		w.reach(b, next, b.EpochAt(next, w.epoch(b.Partition)))
	}
	return nil
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
	at.Order.Next, at.Order.LeaderEpoch, at.Order.Slot = b.Order.Record, b.Order.LeaderEpoch, b.Order.Slot
	at.Order.Set(state.OrderedPart{
		Partition: b.Partition, Next: next, End: b.Order.End, LeaderEpoch: epoch, Ordered: b.Order.Epoch,
	})
	if passed > 0 && w.Moved != nil {
		w.Moved(b.Partition, next-passed, next)
	}
}

// pass moves the slot of a stream by the clock forward, and closes the steps that end up to the slot. It closes one
// step at a time, so that a transaction can end between two steps that one order record closes. The last slot of an
// order record is passed together with the record, because at a later slot the record would not count for the next
// reader.
func (w *Walk) pass(o *fetch.Order, slot int64) (passed bool, err error) {
	for at := w.Position.Order; at.Clock && at.Slot < slot; {
		next, ends := w.nextSlot(slot)
		switch {
		case w.Stream.ended():
			return false, ErrEnded
		case w.Passes != nil && !w.Passes(next, o.Closes, ends):
			return false, nil
		case next > o.Closes:
			leave(at, o)
		default:
			at.Next, at.LeaderEpoch, at.Slot = o.Record, o.LeaderEpoch, next
		}
		if ends {
			w.closeStep()
		}
	}
	return true, nil
}

// nextSlot returns the next slot at which a stream by the clock stands on its way to a later slot, and whether its open
// step ends there. Slots before the first step are in no step.
func (w *Walk) nextSlot(slot int64) (next int64, ends bool) {
	at, clock := w.Position.Order.Slot, w.Stream.clock()
	begin := clock.Begin(w.Stream.base + 1)
	if at < begin {
		return min(slot, begin), false
	}
	end := clock.End(clock.Of(at))
	return min(slot, end), end <= slot
}

// leave moves the position in the order of a whole topic behind an order record.
func leave(at *state.Ordered, o *fetch.Order) {
	at.Next, at.LeaderEpoch, at.Slot = o.Record+1, o.LeaderEpoch, o.Done.Slot
	for _, reach := range o.Done.Parts {
		part, listed := at.Part(reach.Partition)
		if !listed {
			part.Next = reach.Start
		}
		part.End, part.Ordered = reach.End, reach.Epoch
		at.Set(part)
	}
}

// step takes the i-th record of a batch. If events do not have it, step decodes it.
func (w *Walk) step(b *fetch.Batch, r *records.Record, events *Events, i int) error {
	ahead := events.of(b, i)
	s, at := w.Stream, &w.Position
	gap := r.Offset + b.Shift - at.Next
	if gap < 0 {
		panic(fmt.Sprintf("BUG: pipeline: a record at offset %d, the state stands at %d", r.Offset+b.Shift, at.Next))
	}
	if s.ended() {
		return ErrEnded
	}
	if s.isBefore(at) {
		w.reach(b, r.Offset+1, r.LeaderEpoch)
		w.Taken(r, gap, text.OK)
		return nil
	}
	var of user
	switch {
	case s.people == nil:
	case ahead != nil:
		of = user{events.users[i], ahead.named}
	default:
		of = s.opened.model.Users.of(r, s.people.ID)
	}
	code, err := w.admit(of)
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
	switch byClock := !s.clock().Counts(); {
	case byClock && (record.Null || !s.isNew(of, *event, at.Order.Slot)):
		// contributes nothing, exactly as a record that is not there
	case byClock:
		s.machine.Add(record)
	default:
		s.time.take(r.Timestamp)
		s.machine.Add(record)
		if s.count.Take() {
			w.closeStep()
		}
	}
	w.reach(b, r.Offset+1, r.LeaderEpoch)
	w.Taken(r, gap, code)
	return nil
}

// closeStep closes the open step, and makes its decisions. It is the only place that ends a step.
func (w *Walk) closeStep() {
	s := w.Stream
	w.decisions = s.machine.Close(w.decisions[:0])
	w.decide()
	w.Position.Step, s.time = s.Steps(), stepTime(decision.NoTime)
	if s.periods != nil {
		s.periods.Begin(s.periodOf(w.Position.Order.Slot))
	}
}

// admit applies the limits of users. An invalid event counts like a valid one: afterwards its user must wait.
func (w *Walk) admit(of user) (text.Code, error) {
	s := w.Stream
	if s.periods != nil {
		return s.admitInPeriod(of, w.Position.Order.Slot), nil
	}
	if s.limiter == nil {
		return text.OK, nil
	}
	step := s.machine.Steps() + 1
	s.limiter.Forget(step, w.userForgotten) // BEFORE the lookup, so that expired users are not found
	if !of.named {
		return text.NoUser, nil
	}
	if w.Users != nil {
		if err := w.Users.Add(w.Partition, of.id); err != nil {
			return text.OK, err
		}
	}
	if !s.limiter.Admit(step, of.id) {
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
	time := w.Stream.decisionTime()
	for i := range w.decisions {
		d := &w.decisions[i]
		d.Index, d.Step = w.Stream.base+d.Index, w.Stream.base+d.Step
		if d.Output >= DecisionTopics || d.Output > 0 && w.Stream.opened.output == nil {
			panic(fmt.Sprintf("BUG: pipeline: a decision for topic %d, which the operator does not have", d.Output))
		}
		w.line = w.Stream.encoder.AppendTimed(w.line[:0], d.Index, d.Step, time, d.Point, d.Extras)
		if d.Output == 0 && w.KeepsNewest {
			w.newest.keep(d, time)
		}
		w.Decided(d.Output, w.Stream.recordKey(*d), w.line)
	}
}
