package transaction

import (
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
	private []byte         // serialized state, not sealed yet
}

// NewBuilder starts at a committed position of a partition's stream. index may be nil.
func NewBuilder(
	s *streams.Stream, partition int32, at state.Position, sealer *state.Sealer, index streams.UserIndex,
) *Builder {
	b := &Builder{sealer: sealer, sent: at}
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

// Empty reports whether nothing was taken since the previous transaction.
func (b *Builder) Empty() bool { return b.Position.Next == b.sent.Next }

// SkipTo adds the statuses of the offsets after the transaction's last record, up to the Builder's position.
func (b *Builder) SkipTo() {
	b.Transaction.setSkipped(b.Position.Next - b.sent.Next - int64(len(b.Transaction.verdicts)))
}

// Statuses returns the statuses of the offsets in [from, to). The transaction must have taken these offsets.
func (b *Builder) Statuses(from, to int64) []byte {
	return b.Transaction.verdicts[from-b.sent.Next : to-b.sent.Next]
}

// Stretches returns the input ranges of the stream's offsets in [from, to), which the transaction must have taken. It
// returns none for the stream of one partition.
func (b *Builder) Stretches(from, to int64) []state.Stretch {
	return Within(b.Transaction.stretches, from-b.sent.Next, to-from)
}

// DropStatuses removes the statuses of offsets below the given one, because they are committed already.
func (b *Builder) DropStatuses(below int64) {
	b.Transaction.stretches = b.Stretches(below, b.sent.Next+int64(len(b.Transaction.verdicts)))
	b.Transaction.verdicts = b.Transaction.verdicts[below-b.sent.Next:]
	b.sent.Next = below
}

// Close completes the transaction: it sets the state at its end, the group's offsets, and the rows of statuses. The
// statuses start where the previous transaction ended.
func (b *Builder) Close() {
	t, at := b.Transaction, b.Position.Clone()
	t.setOffsets(b.Partition, b.sent, at)
	b.private = b.Stream.AppendState(b.private[:0])
	t.Position = at
	t.Steps = at.Step - b.sent.Step
	t.Sealed = b.sealer.Seal(t.Sealed[:0], at, b.private)
	t.seal(b.sealer, b.sent.Next, b.Now)
	b.sent = at
}
