package transaction

import (
	"fmt"

	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas"
	"oriel/state"
)

// Transaction is everything that one Kafka transaction makes readable. The Builder that fills it owns it until it is
// handed on; then the goroutine that commits it owns it, until Reset.
//
// Commit sends its parts in the order of these fields.
type Transaction struct {
	// Opening holds the incarnation record of a partition's first state; it is empty in every other transaction. The
	// changelog must show it as committed BEFORE anything is sent that depends on the secret of the incarnation.
	Opening []state.Record

	// Decisions are sent BEFORE the state that follows from the same events: where the state is, they are too.
	Decisions [streams.DecisionTopics]records.Pack

	// Rows are the sealed verdicts. They are sent BEFORE the state, for the same reason.
	Rows records.Pack

	// Sealed is the state at Position. It is sent AFTER decisions and rows. The local store gets it AFTER the
	// transaction has ended, so that the store is never ahead of the changelog.
	Sealed []byte

	// Position is after the last record taken.
	Position state.Position

	// Offsets are the group's in the partitions of the input that the transaction has moved in, AFTER the state is sent.
	// They are Position's, unless the group stands behind that: an earlier owner has taken more than the state says, and
	// the group's offsets must not go back.
	Offsets []group.Offset

	// Note is logged BEFORE anything is sent; "" if there is nothing to say.
	Note string

	Extent
	Count  int    // decisions
	Steps  uint64 // closed steps
	End    int64  // end of the input when the last records were fetched
	Newest []byte // line of the last decision in the first topic; empty unless New was asked to keep it

	keepNewest bool
	pool       *records.Pool   // memory of the decisions, shared with the partition's other transaction
	verdicts   []byte          // one for each offset since the transaction before
	stretches  []state.Stretch // whose offsets these are; empty for the stream of one partition
	row        []byte          // a row under construction
}

// New returns an empty transaction. Transactions of one pool share the memory of their decisions. keepNewest
// fills Newest.
func New(pool *records.Pool, keepNewest bool) *Transaction {
	t := &Transaction{keepNewest: keepNewest, pool: pool}
	for output := range t.Decisions {
		t.Decisions[output].Share(pool)
	}
	return t
}

// Reset empties a transaction and keeps its memory.
func (t *Transaction) Reset() {
	for i := range t.Decisions {
		t.Decisions[i].Reset()
	}
	t.Rows.Reset()
	t.Opening, t.Note = nil, ""
	t.Newest = t.Newest[:0]
	t.verdicts, t.stretches, t.Offsets = t.verdicts[:0], t.stretches[:0], t.Offsets[:0]
	t.Sealed = t.Sealed[:0]
	t.Extent, t.Count, t.Steps = Extent{}, 0, 0
}

// Full reports whether the transactions of the pool hold as many bytes as there is memory for.
func (t *Transaction) Full(memory int) bool {
	return t.pool.Bytes()+len(t.verdicts)+stretchBytes*len(t.stretches) >= memory
}

// stretchBytes is the memory of a stretch.
const stretchBytes = 24

// Freed returns a channel that receives when the pool has got memory back.
func (t *Transaction) Freed() <-chan struct{} { return t.pool.Freed() }

// Decide adds one decision for one of the topics of decisions. It copies the line.
func (t *Transaction) Decide(output uint8, key, line []byte, now int64) {
	t.Decisions[output].Append(key, line, nil, now)
	if output == 0 && t.keepNewest {
		t.Newest = append(t.Newest[:0], line...)
	}
	t.Count++
}

// Extent counts the records that a transaction has taken. With the bytes of decisions, the number of offsets and the
// clock it decides where a transaction closes (PROOF.md), so it must count what is public of a record and nothing else.
type Extent struct {
	Records int
	Taken   int // bytes of the records as they lie in their batches
}

func (e *Extent) add(at records.Public) {
	e.Records++
	e.Taken += at.Length + records.RecordOverhead
}

// setStatus adds the verdict of a record that lies gap offsets behind the record before.
func (t *Transaction) setStatus(gap int64, code schemas.Code) {
	t.setSkipped(gap)
	t.verdicts = append(t.verdicts, code.Verdict())
}

// setSkipped adds the verdicts of offsets that hold no record for us: markers and records of aborted transactions.
func (t *Transaction) setSkipped(offsets int64) {
	t.verdicts = append(t.verdicts, make([]byte, offsets)...) // 0: no record
}

// move notes offsets of a partition of the input, in the stream of a whole topic.
func (t *Transaction) move(partition int32, from, to int64) {
	if n := len(t.stretches); n > 0 && t.stretches[n-1].Partition == partition && t.stretches[n-1].To == from {
		t.stretches[n-1].To = to
		return
	}
	t.stretches = append(t.stretches, state.Stretch{Partition: partition, From: from, To: to})
}

// Within returns the stretches of n offsets behind the first skip ones.
func Within(all []state.Stretch, skip, n int64) []state.Stretch {
	var cut []state.Stretch
	for _, s := range all {
		s.From, skip = min(s.To, s.From+skip), max(0, skip-(s.To-s.From))
		s.To = min(s.To, s.From+n)
		if n -= s.To - s.From; s.From < s.To {
			cut = append(cut, s)
		}
	}
	return cut
}

// OffsetsAt are the offsets of a group whose stream stands at a position: that of the partition, or those of all
// partitions of a whole topic that have a place in its order.
func OffsetsAt(partition int32, at state.Position) []group.Offset {
	if at.Order == nil {
		return []group.Offset{{Partition: partition, Offset: at.Next}}
	}
	offsets := make([]group.Offset, len(at.Order.Parts))
	for i, part := range at.Order.Parts {
		offsets[i] = group.Offset{Partition: part.Partition, Offset: part.Next}
	}
	return offsets
}

// setOffsets notes the group's offset, or those in the partitions of a whole topic that were moved in since a position.
// Where none was, as before the first event, they are those in all partitions.
func (t *Transaction) setOffsets(partition int32, since, at state.Position) {
	if at.Order != nil {
		t.Offsets = t.Offsets[:0]
		for _, part := range at.Order.Parts {
			if was, _ := since.Order.Part(part.Partition); was.Next != part.Next {
				t.Offsets = append(t.Offsets, group.Offset{Partition: part.Partition, Offset: part.Next})
			}
		}
		if len(t.Offsets) > 0 {
			return
		}
	}
	t.Offsets = append(t.Offsets[:0], OffsetsAt(partition, at)...)
}

// seal makes rows of the verdicts, which start at offset from and end at the position. Where one row ends and the next
// begins depends on the number of offsets alone, and on that of stretches.
func (t *Transaction) seal(sealer *state.Sealer, from int64, now int64) {
	if end := from + int64(len(t.verdicts)); end != t.Position.Next {
		panic(fmt.Sprintf("BUG: pipeline: verdicts of the offsets %d to %d, the state stands at %d", from, end, t.Position.Next))
	}
	rest := state.StatusRow{From: from, To: t.Position.Next, Verdicts: t.verdicts}
	if t.Position.Order != nil {
		rest.Stretches = t.stretches
	}
	for len(rest.Verdicts) > 0 {
		var row state.StatusRow
		row, rest = rest.Cut()
		t.row = sealer.SealVerdicts(t.row[:0], row)
		t.Rows.Append(nil, t.row, nil, now)
	}
}
