package transaction

import (
	"fmt"

	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/text"
	"oriel/state"
)

// Transaction holds everything that one Kafka transaction makes readable. The Builder that fills it owns it first. Once
// it is handed over, the goroutine that commits it owns it, until Reset.
//
// Commit sends its parts in the order of these fields.
type Transaction struct {
	// Opening holds the incarnation record of a partition's first state; it is empty in every other transaction. The
	// changelog must show it as committed BEFORE anything that depends on the incarnation's secret is sent.
	Opening []state.Record

	// Decisions are sent BEFORE the state that follows from the same events, so that a topic with the state implies the
	// decisions.
	Decisions [streams.DecisionTopics]records.Pack

	// Rows are the sealed statuses. They are sent BEFORE the state, so that a topic with the state implies the rows.
	Rows records.Pack

	// Users are the segments in the changelog that belong to the state: new ones of users and names, and the end of those
	// of an earlier period or step. They are sent BEFORE the state, in the same partition, so that either all of
	// them are committed or none.
	Users []state.Record

	// Sealed is the state at Position. It is sent AFTER decisions and rows. The local store gets it AFTER the
	// transaction has ended, so that the store is never ahead of the changelog.
	Sealed []byte

	// Position is the stream's position after the last record taken.
	Position state.Position

	// Offsets are the group's new offsets in the partitions of the input whose events the transaction has taken. They
	// are sent AFTER the state. They equal Position, unless the group's offsets are already beyond it: then an earlier
	// owner has taken more records than the state covers, and the offsets must not go back.
	Offsets []group.Offset

	// Note and its Detail are logged BEFORE anything is sent (notice.Listener); empty for no message.
	Note, Detail string

	Extent
	Count     int                // number of decisions
	Time      int64              // timestamp of the newest decision's record in ms
	Steps     uint64             // number of closed steps
	End       int64              // end of the input, as of the last fetch
	Remembers int                // memory of the users in periods and of names, bytes; private
	Newest    *decision.Decision // last decision of the first topic; nil: none, or the walk does not keep it

	decides   bool            // it has a decision of the first topic
	pool      *records.Pool   // memory of decisions, shared with the partition's other transaction
	verdicts  []byte          // status of each offset since the previous transaction
	stretches []state.Stretch // input ranges of these offsets; empty for the stream of one partition
	row       []byte          // a row being built
}

// New returns an empty transaction. Transactions of the same pool share the memory of their decisions.
func New(pool *records.Pool) *Transaction {
	t := &Transaction{pool: pool}
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
	t.Opening, t.Users, t.Note, t.Detail = nil, nil, "", ""
	t.Newest, t.decides = nil, false
	t.verdicts, t.stretches, t.Offsets = t.verdicts[:0], t.stretches[:0], t.Offsets[:0]
	t.Sealed = t.Sealed[:0]
	t.Extent, t.Count, t.Time, t.Steps = Extent{}, 0, 0, 0
}

// Full reports whether the transactions of the pool hold at least memory bytes.
func (t *Transaction) Full(memory int) bool {
	return t.pool.Bytes()+len(t.verdicts)+stretchBytes*len(t.stretches) >= memory
}

// stretchBytes is the memory of one stretch in bytes.
const stretchBytes = 24

// Freed returns a channel that receives a value when memory was returned to the pool.
func (t *Transaction) Freed() <-chan struct{} { return t.pool.Freed() }

// Decide adds a decision for one of the decision topics. It copies the line.
func (t *Transaction) Decide(output uint8, key, line []byte, now int64) {
	t.Decisions[output].Append(key, line, nil, now)
	t.decides = t.decides || output == 0
	t.Count, t.Time = t.Count+1, now
}

// Decides reports whether the transaction names the topics of decisions: always with steps by count, and with decisions
// by the clock. Each step by the clock has a decision, so it does if it closes a step.
func (t *Transaction) Decides() bool {
	return t.Count > 0 || t.Position.Order == nil || !t.Position.Order.Clock
}

// Extent counts the records that a transaction has taken. Together with the bytes of decisions, the number of offsets
// and the clock, it determines where a transaction closes (PROOF.md). So it must count only public properties of a
// record.
type Extent struct {
	Records int
	Taken   int // bytes of the records, as encoded in their batches
}

func (e *Extent) add(at records.Public) {
	e.Records++
	e.Taken += at.Length + records.RecordOverhead
}

// setStatus adds the status of a record, after gap offsets without a record.
func (t *Transaction) setStatus(gap int64, code text.Code) {
	t.setSkipped(gap)
	t.verdicts = append(t.verdicts, code.Status())
}

// setSkipped adds the statuses of offsets without a readable record: markers and records of aborted transactions.
func (t *Transaction) setSkipped(offsets int64) {
	t.verdicts = append(t.verdicts, make([]byte, offsets)...) // 0 means no record
}

// move records that the stream of a whole topic has taken the offsets in [from, to) of a partition of the input.
func (t *Transaction) move(partition int32, from, to int64) {
	if n := len(t.stretches); n > 0 && t.stretches[n-1].Partition == partition && t.stretches[n-1].To == from {
		t.stretches[n-1].To = to
		return
	}
	t.stretches = append(t.stretches, state.Stretch{Partition: partition, From: from, To: to})
}

// Within skips the first skip offsets of the stretches and returns the stretches of the next n.
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

// seal makes rows of the statuses, which start at a place and end at the position. The boundaries of rows depend only
// on the number of offsets and on the number of stretches. A transaction that only closes steps by the clock has one
// row without statuses, because without a row nothing would tell the ends of two such transactions apart.
func (t *Transaction) seal(sealer *state.Sealer, from state.Place, now int64) {
	if end := from.Next + int64(len(t.verdicts)); end != t.Position.Next {
		panic(fmt.Sprintf("BUG: pipeline: verdicts of the offsets %d to %d, the state stands at %d", from.Next, end, t.Position.Next))
	}
	rest := state.StatusRow{From: from, To: t.Position.Place(), Statuses: t.verdicts}
	if t.Position.Order != nil {
		rest.Stretches = t.stretches
	}
	for rest.From != rest.To {
		var row state.StatusRow
		row, rest = rest.Cut()
		t.row = sealer.SealStatuses(t.row[:0], row)
		t.Rows.Append(nil, t.row, nil, now)
	}
}
