package transaction

import (
	"strconv"

	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/text"
	"oriel/state"
)

// Builder walks over records and fills one transaction after the other. It is the only user of its stream. The caller
// may drop a transaction that was built and not committed, but must then drop the stream too.
type Builder struct {
	*streams.Walk

	// Transaction is the transaction under construction. The caller replaces it after Close.
	Transaction *Transaction

	// Now is the timestamp of the transaction's records in ms. It must be a commit tick, because the time at which an
	// event arrived is not public.
	Now int64

	sealer  *state.Sealer
	sent    state.Position // end position of the previous transaction
	from    state.Place    // where the statuses of the transaction begin: sent, or a later place
	private []byte         // serialized state, not sealed yet
}

// NewBuilder starts at a committed position of a partition's stream. index may be nil.
func NewBuilder(
	s *streams.Stream, partition int32, at state.Position, sealer *state.Sealer, index streams.UserIndex,
) *Builder {
	b := &Builder{sealer: sealer, sent: at, from: at.Place()}
	b.Walk = &streams.Walk{
		Stream: s, Partition: partition, Position: at.Clone(), Users: index,
		Decided: func(output uint8, key, line []byte) { b.Transaction.Decide(output, key, line, b.Now) },
		Taken: func(r *records.Record, gap int64, code text.Code) {
			b.Transaction.setStatus(gap, code)
			b.Transaction.add(r.Public)
		},
		Moved: func(partition int32, from, to int64) { b.Transaction.move(partition, from, to) },
	}
	return b
}

// Empty reports whether nothing was taken and no step was closed since the previous transaction.
func (b *Builder) Empty() bool {
	return b.Position.Next == b.sent.Next && b.Position.Step == b.sent.Step
}

// Pending reports whether there is something to commit. By the clock this is a closed step or the end of an order
// record, with records or without, because whether there are records is not public. Within an order record, records may
// move the place in the order log, behind void ones, or the slot, but only the end moves both of them.
func (b *Builder) Pending() bool {
	if at, sent := b.Position.Order, b.sent.Order; at != nil && at.Clock {
		return at.Next != sent.Next && at.Slot != sent.Slot || b.Position.Step != b.sent.Step
	}
	return !b.Empty()
}

// SkipTo adds the statuses of the offsets after the transaction's last record, up to the Builder's position.
func (b *Builder) SkipTo() {
	b.Transaction.setSkipped(b.Position.Next - b.from.Next - int64(len(b.Transaction.verdicts)))
}

// Statuses returns the statuses of the offsets in [from, to). The transaction must have taken these offsets.
func (b *Builder) Statuses(from, to int64) []byte {
	return b.Transaction.verdicts[from-b.from.Next : to-b.from.Next]
}

// Stretches returns the input ranges of the stream's offsets in [from, to), which the transaction must have taken. It
// returns none for the stream of one partition.
func (b *Builder) Stretches(from, to int64) []state.Stretch {
	return Within(b.Transaction.stretches, from-b.from.Next, to-from)
}

// DropStatuses removes the statuses up to a place, because they are committed already.
func (b *Builder) DropStatuses(to state.Place) {
	b.Transaction.stretches = b.Stretches(to.Next, b.from.Next+int64(len(b.Transaction.verdicts)))
	b.Transaction.verdicts = b.Transaction.verdicts[to.Next-b.from.Next:]
	b.from = to
}

// Close completes the transaction: it sets the state at its end, the group's offsets, and the rows of statuses. The
// statuses start where the previous transaction ended.
func (b *Builder) Close() {
	t, at := b.Transaction, b.Position.Clone()
	t.setOffsets(b.Partition, b.sent, at)
	t.Users = b.Stream.Save(t.Users, b.sealer)
	t.Remembers = b.Stream.Grown()
	b.private = b.Stream.AppendState(b.private[:0])
	t.Position = at
	t.Steps = at.Step - b.sent.Step
	t.Sealed = b.sealer.Seal(t.Sealed[:0], at, b.private)
	if t.decides && b.KeepsNewest {
		newest := b.Newest()
		t.Newest = &newest
	}
	t.seal(b.sealer, b.from, b.Now)
	b.sent, b.from = at, at.Place()
}

// OffsetsAt returns the offsets of a group whose stream is at a position. The stream of one partition has one offset;
// the stream of a whole topic has one for each partition with ordered records.
func OffsetsAt(partition int32, at state.Position) []group.Offset {
	if at.Order == nil {
		return []group.Offset{{Partition: partition, Offset: at.Next}}
	}
	offsets := make([]group.Offset, len(at.Order.Parts))
	for i, part := range at.Order.Parts {
		offsets[i] = offsetIn(part, at.Place())
	}
	return offsets
}

// offsetIn returns the group's offset in a partition of a whole topic. Its note is the slot of the place, because
// offsets alone do not show which steps without records have closed. With steps by count there is no note.
func offsetIn(part state.OrderedPart, at state.Place) group.Offset {
	return group.Offset{Partition: part.Partition, Offset: part.Next, Note: SlotNote(at.Slot)}
}

// SlotNote returns the note beside the group's offsets of a stream whose place has a slot; empty for slot 0.
func SlotNote(slot int64) string {
	if slot == 0 {
		return ""
	}
	return strconv.FormatInt(slot, 10)
}

// SlotOf reads a note of SlotNote. A note of another form, such as of an offset that was set by hand, has slot 0.
func SlotOf(note string) int64 {
	slot, err := strconv.ParseInt(note, 10, 64)
	if err != nil || slot < 0 || SlotNote(slot) != note {
		return 0
	}
	return slot
}

// setOffsets sets the group's offset. For a whole topic it sets the offsets in the partitions whose events were taken
// since a position. If none were taken, for example before the first event, it sets the offsets in all partitions.
func (t *Transaction) setOffsets(partition int32, since, at state.Position) {
	if at.Order != nil {
		t.Offsets = t.Offsets[:0]
		for _, part := range at.Order.Parts {
			if was, _ := since.Order.Part(part.Partition); was.Next != part.Next {
				t.Offsets = append(t.Offsets, offsetIn(part, at.Place()))
			}
		}
		if len(t.Offsets) > 0 {
			return
		}
	}
	t.Offsets = append(t.Offsets[:0], OffsetsAt(partition, at)...)
}
