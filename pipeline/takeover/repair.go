package takeover

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/merge"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/pipeline/transaction"
	"oriel/schemas/decision"
	"oriel/state"
)

// reconcile builds the transaction that brings state, decisions, statuses and group offset to the same end. It contains
// exactly the missing parts, and is not built if all parts are at the state. opening holds further records that the
// changelog must have: they are committed first, in a transaction of their own.
//
// The owner may die at any point, and its transaction may end differently in its topics like any other transaction. The
// next take-over then starts from the parts that are committed by that time.
func (t *takeOver) reconcile(ctx context.Context, opening []state.Record) error {
	f, err := t.inspect(ctx)
	if err != nil {
		return err
	}
	was := t.Position.Semantics
	if err := t.check(ctx, f); err != nil {
		return err
	}
	if len(opening) > 0 || was != t.Position.Semantics {
		t.commitState(f, opening)
	}
	if f.complete(t.Position) {
		return nil
	}
	tx, now := t.newTransaction(), time.Now().UnixMilli()
	for output, found := range f.decisions {
		for _, line := range found.resend {
			d, _ := t.decision(line) // cannot fail, because the line was parsed before
			tx.Decide(uint8(output), t.Stream.RecordKeyOf(uint8(output), d), line, t.stamp(d, now))
		}
	}
	for _, r := range f.verdicts.resend {
		tx.Rows.Append(nil, r.sealed, nil, now)
	}
	tx.Position, tx.Sealed = t.Position.Clone(), bytes.Clone(t.sealed)
	says := "a transaction of an earlier owner is not whole; the missing records are committed now"
	if t.Position.Owes {
		says = "an earlier owner has opened the partition, and its first decisions are not committed with the state; the missing records are committed now"
	}
	if t.examines != nil && !t.examines.Events {
		return nil
	}
	if f.beyondState(t.Position.Place()) || t.Position.Owes {
		if err := t.redo(ctx, f, tx, now); err != nil {
			return err
		}
	}
	tx.Offsets = t.offsetsAt(tx.Position, f)
	tx.Note, tx.Detail = says, fmt.Sprintf(" (decisions: %d, input %v)", tx.Count, tx.Position.Place())
	t.mustCommit(tx)
	return nil
}

// commitState commits only the state: together with an opening that was aborted in the changelog, or under the
// semantics of this version. The secret of an opening must be durable BEFORE a decision that follows from it can be
// read. The semantics must be durable before too. Otherwise the committed state would name the previous semantics for
// decisions of this version, and the previous version would recompute them with other bytes.
func (t *takeOver) commitState(f *transactionStatus, opening []state.Record) {
	tx := t.newTransaction()
	tx.Opening, tx.Position, tx.Sealed = opening, t.Position.Clone(), bytes.Clone(t.sealed)
	if len(opening) > 0 {
		tx.Note = "the opening of an earlier owner is not whole; the state of the opening is committed again"
		tx.Detail = fmt.Sprintf(" (input %v)", tx.Position.Place())
	}
	tx.Offsets = t.offsetsAt(tx.Position, f)
	f.group = later(f.group, tx.Position.Place())
	t.mustCommit(tx)
}

// offsetsAt returns the group's offsets for a transaction that ends at a position. It never moves the group back.
func (t *takeOver) offsetsAt(at state.Position, f *transactionStatus) []group.Offset {
	offsets := transaction.OffsetsAt(t.partition, at)
	for i := range offsets {
		offsets[i].Note = transaction.SlotNote(max(at.Place().Slot, f.group.Slot))
		for _, is := range f.offsets {
			if is.Partition == offsets[i].Partition {
				offsets[i].Offset = max(offsets[i].Offset, is.Offset)
			}
		}
	}
	return offsets
}

// remedyOfOtherHistory is the advice if committed bytes differ from the bytes that the events give now.
const remedyOfOtherHistory = "The input has changed under its offsets, or another version made %s: start the version that ran before, or open a new deployment under another ORIEL_NAME"

// redo adds to tx the first decisions that the state owes and the events beyond it, recomputed. It continues exactly as
// far as some part of them is committed. A committed part must be recomputed with the same bytes, and is left out of
// tx.
func (t *takeOver) redo(ctx context.Context, f *transactionStatus, tx *transaction.Transaction, now int64) error {
	b := transaction.NewBuilder(t.Stream, t.partition, t.Position, t.Sealer, t.Users)
	b.Transaction, b.Now, b.KeepsNewest = tx, now, t.Listener.Decided != nil
	c := redone{f: f}
	b.Decided = func(output uint8, key, line []byte) {
		d, ours := t.decision(line)
		if !ours {
			panic("BUG: pipeline: a decision of the stream does not read as one")
		}
		if c.isNew(output, d, line) {
			tx.Decide(output, key, line, t.stamp(d, now))
		}
	}
	if t.Position.Owes {
		if b.Start(); c.differs != "" {
			return t.stop(c.differs, c.remedy)
		}
	}
	if err := t.takeAgain(ctx, f, b, &c); err != nil {
		return err
	}
	for output, found := range f.decisions {
		if c.again[output] != len(found.beyondState) {
			return t.stop(fmt.Sprintf("of %d committed decisions in topic %s, %d come out of their events now",
				len(found.beyondState), t.Topics.Outputs()[output].Name, c.again[output]),
				fmt.Sprintf(remedyOfOtherHistory, "them"))
		}
	}
	// Committed statuses must equal the recomputed ones, and the new rows must start where the committed rows end.
	for _, r := range f.verdicts.beyondState {
		from, to := r.From.Next, r.To.Next
		if r.From.Compare(t.Position.Place()) < 0 {
			continue
		}
		if !slices.Equal(r.Stretches, b.Stretches(from, to)) {
			return t.stop(fmt.Sprintf("the committed verdicts of the offsets %d to %d are of other places in the input than those that the order log gives now", from, to),
				fmt.Sprintf(remedyOfOtherHistory, "them"))
		}
		if !bytes.Equal(r.Statuses, b.Statuses(from, to)) {
			return t.stop(fmt.Sprintf("the committed verdicts of the offsets %d to %d differ from those that the events give now", from, to),
				fmt.Sprintf(remedyOfOtherHistory, "them"))
		}
	}
	b.DropStatuses(later(t.Position.Place(), f.verdicts.end))
	b.Close()
	return nil
}

// stamp returns the timestamp of a decision's record. By the clock it is that of the hand-over that was due, because
// the time of a repair may depend on the records of the step.
func (t *takeOver) stamp(d decision.Decision, now int64) int64 {
	if t.Model.Clock.Counts() {
		return now
	}
	return d.Time() + t.Config.StepDelay.Milliseconds()
}

// redone compares recomputed decisions with committed ones.
type redone struct {
	f               *transactionStatus
	reached         uint64                      // index of the last decision computed again
	again           [streams.DecisionTopics]int // by output: number of committed decisions computed again
	differs, remedy string                      // first difference and its remedy; empty: no difference
}

// isNew reports whether a decision must be published. It must not be published if it is committed, or if a later
// decision is committed, because then retention has deleted it.
func (c *redone) isNew(output uint8, d decision.Decision, line []byte) bool {
	c.reached = d.Index
	found := &c.f.decisions[output]
	committed, is := found.beyondState[d.Index]
	if !is {
		return c.differs == "" && (len(found.beyondState) == 0 || d.Index > found.index)
	}
	c.again[output]++
	switch {
	case c.differs != "" || bytes.Equal(committed, line):
	case d.Step == 0:
		c.differs = fmt.Sprintf("the committed decision %d, of before the first event, differs from the one that the secret of the opening gives now", d.Index)
		c.remedy = "Another version made it: start the version that ran before, or open a new deployment under another ORIEL_NAME"
	default:
		c.differs = fmt.Sprintf("the committed decision %d differs from the one that its events give now", d.Index)
		c.remedy = fmt.Sprintf(remedyOfOtherHistory, "it")
	}
	return false
}

// takeAgain walks over the events beyond the state, as far as some part of their transactions is committed.
func (t *takeOver) takeAgain(ctx context.Context, f *transactionStatus, b *transaction.Builder, c *redone) error {
	reader := merge.Open(t.Client, t.Config, t.partition, t.OrderKey, t.Start, t.Position, fetch.Options{
		MaxBytes: deployment.FetchBytes, MaxWait: 100 * time.Millisecond,
	})
	defer reader.Close()
	last, due := f.reach()
	until := func() state.Place {
		if due && c.reached < last {
			return state.Place{Slot: streams.Untaken, Next: streams.Untaken}
		}
		return f.end
	}
	beyond := false // the next step or slot is beyond what is committed
	b.Passes = func(slot, _ int64, _ bool) bool {
		beyond = slot > until().Slot
		return !beyond
	}
	var idle merge.Idle
	for b.Position.Place().Compare(until()) < 0 {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return fmt.Errorf("pipeline: partition %d: take events again: %w", t.partition, err)
		}
		b.Transaction.End = batch.Stable + batch.Shift
		err = b.Take(batch, func() int64 { return until().Next })
		b.SkipTo() // a Batch may end with offsets that have no records
		short := (idle.Over(batch) || beyond) && b.Position.Place().Compare(until()) < 0
		batch.Release()
		switch {
		case errors.Is(err, streams.ErrEnded):
			return notice.HorizonReached(t.partition, b.Stream.Guarantee().Scope.End())
		case err != nil:
			return err
		case c.differs != "":
			return t.stop(c.differs, c.remedy)
		case short:
			return t.lost(fmt.Sprintf("decisions are committed for events that the input does not have: the input ends at %v", b.Position.Place()),
				"Acknowledged events were lost on the brokers; open a new deployment under another ORIEL_NAME")
		}
	}
	return nil
}
