package streams

import (
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/schemas"
	"oriel/state"
	"oriel/state/users"
)

// Walk takes the records of one partition, in their order and from a position on. It is the one way over them: in the
// service, in the repair of a torn transaction and in every replay, so that all of them give the same bytes. It does no
// I/O, and what it has computed may be dropped at any record.
//
// An event that is left out, or taken twice, would be a second history: batches must join, which Take checks.
type Walk struct {
	Stream    *Stream
	Partition int32
	Position  state.Position // after the last record taken; Step counts the steps that the stream has closed

	// Decided gets each decision: its topic, 0 or 1 (operators.Decision.Output), its record key, and its line; both are
	// valid during the call.
	Decided func(output uint8, key, line []byte)

	// Taken hears of each record: how many offsets before it hold none, and why it took its place as a null event,
	// schemas.OK when it is valid.
	Taken func(r *records.Record, gap int64, code schemas.Code)

	Users UserIndex // of the process; nil for a walk that is nobody's beside it

	decisions []operators.Decision
	line      []byte
}

// UserIndex knows which partition remembers which user. It must be safe for concurrent use, because all walks of a
// process share it.
type UserIndex interface {
	// Add notes a user BEFORE the record is taken. An error stops the walk.
	Add(partition int32, user users.ID) error

	// Remove lets go of a user whom a partition remembers no longer.
	Remove(partition int32, user users.ID)
}

// Untaken is an offset that no log reaches: a walk that may go on for ever stops at it.
const Untaken = math.MaxInt64

// ErrEnded means that a record follows the last step that the stream's guarantee is for. The walk stands before it.
var ErrEnded = errors.New("pipeline: the horizon is reached: the stream has closed all the steps that its guarantee is for")

// Start hands on the decisions that are owed before the first record of a stream. A stream is started once: its state
// differs from then on.
func (w *Walk) Start() {
	w.Position.Owes = false
	w.decisions = w.Stream.machine.Open(w.decisions[:0])
	w.decide()
}

// Take steps over a batch, which must start where the walk stands. Before each record, and before the offsets behind
// the last one, it asks how far it may go, and stops before what lies at or behind that offset. It returns ErrEnded, or
// what refuses a user, before the record that must not be taken; then everything before it counts.
func (w *Walk) Take(b *fetch.Batch, until func() int64) error {
	if b.From != w.Position.Next {
		panic(fmt.Sprintf("BUG: pipeline: batch starts at offset %d, the state stands at %d", b.From, w.Position.Next))
	}
	for i := range b.Records {
		r := &b.Records[i]
		if end := until(); r.Offset >= end {
			w.skipTo(b, end)
			return nil
		}
		if err := w.step(r); err != nil {
			return err
		}
	}
	w.skipTo(b, until())
	return nil
}

// skipTo goes on to where a batch ends, or to an end before it, over offsets that hold no record to take.
func (w *Walk) skipTo(b *fetch.Batch, end int64) {
	switch next := min(b.Next, end); {
	case next == b.Next:
		w.Position.Next, w.Position.LeaderEpoch = next, b.LeaderEpoch
	case next > w.Position.Next:
		// The epoch of the whole batch may begin behind the end; one that ended before it would look like a truncation.
		w.Position.Next, w.Position.LeaderEpoch = next, b.EpochAt(next, w.Position.LeaderEpoch)
	}
}

// step takes one record.
func (w *Walk) step(r *records.Record) error {
	s, at := w.Stream, &w.Position
	if r.Offset < at.Next {
		panic(fmt.Sprintf("BUG: pipeline: a record at offset %d, the state stands at %d", r.Offset, at.Next))
	}
	if s.ended() {
		return ErrEnded
	}
	code, err := w.admit(r)
	if err != nil {
		return err
	}
	switch {
	case code != schemas.OK:
	case r.Unreadable:
		code = schemas.TooLarge
	default:
		code = s.opened.decoder.Decode(&s.opened.event, r.Value)
	}
	record := operators.Record{
		Identity: noise.Identity{Topic: at.Topic, Partition: w.Partition, Offset: r.Offset, LeaderEpoch: r.LeaderEpoch},
		Null:     code != schemas.OK,
	}
	if s.opened.model.Keyed {
		record.Key = r.Key
	}
	if !record.Null {
		record.Event = s.opened.event
	}
	w.decisions = s.machine.Add(w.decisions[:0], record)
	w.decide()
	gap := r.Offset - at.Next
	at.Next, at.LeaderEpoch, at.Step = r.Offset+1, r.LeaderEpoch, s.machine.Steps()
	w.Taken(r, gap, code)
	return nil
}

// admit applies the separation of users. Whether the event says anything does not matter: an accepted user has had the
// turn.
func (w *Walk) admit(r *records.Record) (schemas.Code, error) {
	s := w.Stream
	if s.limiter == nil {
		return schemas.OK, nil
	}
	step := s.machine.Steps() + 1
	s.limiter.Forget(step, w.userForgotten) // BEFORE the user is looked up among those remembered
	name := s.opened.model.Users.name(r)
	if len(name) == 0 {
		return schemas.NoUser, nil
	}
	user := s.limiter.ID(name)
	if w.Users != nil {
		if err := w.Users.Add(w.Partition, user); err != nil {
			return schemas.OK, err
		}
	}
	if !s.limiter.Admit(step, user) {
		return schemas.TooSoon, nil
	}
	return schemas.OK, nil
}

func (w *Walk) userForgotten(user users.ID) {
	if w.Users != nil {
		w.Users.Remove(w.Partition, user)
	}
}

func (w *Walk) decide() {
	for _, d := range w.decisions {
		if d.Output >= DecisionTopics || d.Output > 0 && w.Stream.opened.output == nil {
			panic(fmt.Sprintf("BUG: pipeline: a decision for topic %d, which the operator does not have", d.Output))
		}
		w.line = w.Stream.encoder.Append(w.line[:0], d.Index, d.Step, d.Point, d.Extras)
		w.Decided(d.Output, w.Stream.recordKey(d), w.line)
	}
}
