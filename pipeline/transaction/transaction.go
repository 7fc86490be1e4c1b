package transaction

import (
	"fmt"

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

	// Position is after the last record taken. Its offset is the group's, AFTER the state is sent.
	Position state.Position

	// Group is the offset that the group has committed, where that is behind Position: an earlier owner has taken more
	// than the state says, and the group's offset must not go back. 0 elsewhere.
	Group int64

	// Note is logged BEFORE anything is sent; "" if there is nothing to say.
	Note string

	Extent
	Count  int    // decisions
	Steps  uint64 // closed steps
	End    int64  // end of the input when the last records were fetched
	Newest []byte // line of the last decision in the first topic; empty unless New was asked to keep it

	keepNewest bool
	pool       *records.Pool // memory of the decisions, shared with the partition's other transaction
	verdicts   []byte        // one for each offset since the transaction before
	row        []byte        // a row under construction
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
	t.Opening, t.Note, t.Group = nil, "", 0
	t.Newest = t.Newest[:0]
	t.verdicts = t.verdicts[:0]
	t.Sealed = t.Sealed[:0]
	t.Extent, t.Count, t.Steps = Extent{}, 0, 0
}

// Full reports whether the transactions of the pool hold as many bytes as there is memory for.
func (t *Transaction) Full(memory int) bool { return t.pool.Bytes()+len(t.verdicts) >= memory }

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

// seal makes rows of the verdicts, which start at offset from and end at the position. Where one row ends and the next
// begins depends on the number of offsets alone.
func (t *Transaction) seal(sealer *state.Sealer, from int64, now int64) {
	if end := from + int64(len(t.verdicts)); end != t.Position.Next {
		panic(fmt.Sprintf("BUG: pipeline: verdicts of the offsets %d to %d, the state stands at %d", from, end, t.Position.Next))
	}
	rest := state.StatusRow{From: from, To: t.Position.Next, Verdicts: t.verdicts}
	for len(rest.Verdicts) > 0 {
		var row state.StatusRow
		row, rest = rest.Cut()
		t.row = sealer.SealVerdicts(t.row[:0], row)
		t.Rows.Append(nil, t.row, nil, now)
	}
}
