package takeover

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// transactionStatus describes how the transactions of earlier owners ended, seen from the committed state.
//
// A transaction should end equally in all its topics. But a coordinator that crashes after its decision may never
// inform some of the topics. The take-over then aborts the transaction there (produce.Producer.Settle). So decisions,
// statuses and group offset may each be before the state, at it, or beyond it. Each part ends with some transaction,
// because only a take-over aborts, and it repairs before anything else is sent.
//
//   - Before the state: the missing bytes are in their topic, aborted: the state was sent after them, and committed.
//   - Beyond the state: the coordinator had decided to commit the transaction, because otherwise no part of it would be
//     committed; but the state was aborted. Its events are taken again. The decisions before the first event stand
//     beyond a state that owes them (open.go), and are made again.
//
// All of it is public: offsets, indices and decisions. A take-over's actions are a function of these alone.
type transactionStatus struct {
	decisions []decisionsFound // one for each output
	verdicts  statusesFound
	group     state.Place    // the stream's committed place in the group; offset −1: none
	offsets   []group.Offset // the group's offsets and their notes, which determine group

	// end is the place up to which the committed parts reach. Decisions beyond the state may need more.
	end state.Place
}

// complete reports whether all committed parts are at the state, so that nothing more must be sent.
func (f *transactionStatus) complete(at state.Position) bool {
	aborted := slices.ContainsFunc(f.decisions, func(d decisionsFound) bool { return len(d.resend) > 0 })
	return !at.Owes && !f.beyondState(at.Place()) && !aborted && len(f.verdicts.resend) == 0 &&
		(f.group.Next == -1 || f.group == at.Place())
}

// beyondState reports whether any committed part is beyond the state.
func (f *transactionStatus) beyondState(at state.Place) bool {
	_, beyond := f.reach()
	return f.end.Compare(at) > 0 || beyond
}

// later returns the later of two places.
func later(a, b state.Place) state.Place {
	if a.Compare(b) < 0 {
		return b
	}
	return a
}

// reach returns the index of the last committed decision beyond the state, and whether there is one.
func (f *transactionStatus) reach() (index uint64, beyond bool) {
	for _, d := range f.decisions {
		if len(d.beyondState) > 0 {
			index, beyond = max(index, d.index), true
		}
	}
	return index, beyond
}

// inspect compares decisions, statuses and group offset with the committed state.
func (t *takeOver) inspect(ctx context.Context) (*transactionStatus, error) {
	decisions, err := t.findDecisions(ctx)
	if err != nil {
		return nil, err
	}
	verdicts, err := t.findStatuses(ctx)
	if err != nil {
		return nil, err
	}
	t.reportUnsealed(&verdicts)
	f := &transactionStatus{
		decisions: decisions, verdicts: verdicts, group: t.standing(t.ends.group), offsets: t.ends.group,
		end: later(t.Position.Place(), verdicts.end),
	}
	t.enterAdded(f)
	return f, t.lookAtGroup(ctx, f)
}

// statusesFound holds the rows of statuses of the incarnation near its state.
type statusesFound struct {
	end         state.Place      // end of the last committed row of statuses; offset −1: none is readable
	rows        []sealedStatuses // rows read, in order; aborted ones after the last committed row included
	beyondState []sealedStatuses // committed rows beyond the state
	resend      []sealedStatuses // rows up to the state that are not committed, in order
}

type sealedStatuses struct {
	state.StatusRow
	sealed []byte
}

// full reports whether a row has no room for another status or stretch.
func (r sealedStatuses) full() bool {
	return len(r.Statuses) == state.MaxStatuses || len(r.Stretches) == state.MaxStretches
}

// findStatuses reads the end of the verdict topic, back to a row that the state covers.
func (t *takeOver) findStatuses(ctx context.Context) (statusesFound, error) {
	b, topic, stands := t.ends.verdicts, t.Topics.Verdicts, t.Position.Place()
	var f statusesFound
	behind := b.Start // offset after the last committed row
	collect := func(from, end int64, uncommitted bool, each func(r sealedStatuses, offset int64)) error {
		for r, err := range fetch.Records(ctx, t.Client, topic, t.partition, from, end, uncommitted) {
			if err != nil {
				return err
			}
			// A row that does not open belongs to another incarnation, or is foreign.
			if opened, err := t.Sealer.OpenStatuses(r.Value); err == nil {
				each(sealedStatuses{opened, bytes.Clone(r.Value)}, r.Offset)
			}
		}
		return nil
	}
	for from := range fetch.Backwards(b.Start, b.Stable) {
		f, behind = statusesFound{end: state.Place{Next: -1}}, b.Start
		if err := collect(from, b.Stable, false, func(r sealedStatuses, offset int64) {
			f.end, f.rows, behind = r.To, append(f.rows, r), offset+1
			if r.To.Compare(stands) > 0 {
				f.beyondState = append(f.beyondState, r)
			}
		}); err != nil {
			return f, err
		}
		if len(f.rows) > 0 && f.rows[0].To.Compare(stands) <= 0 {
			break
		}
	}
	committed := len(f.rows)
	if err := collect(behind, b.High, true, func(r sealedStatuses, _ int64) { f.rows = append(f.rows, r) }); err != nil {
		return f, err
	}
	// Collect the rows up to the state, from the last one back to the end of the committed ones.
	for at, i := stands, len(f.rows)-1; i >= committed && at.Compare(f.end) > 0; i-- {
		if f.rows[i].To == at {
			f.resend = append([]sealedStatuses{f.rows[i]}, f.resend...)
			at = f.rows[i].From
		}
	}
	return f, nil
}

// unsealed returns the range of offsets up to a state whose statuses are neither committed nor can be sent again. from
// is the start of the incarnation. The stream continues, because decisions do not depend on statuses. If retention has
// emptied the log, the range is unknown and returned as empty.
func (f *statusesFound) unsealed(from, next int64, b topics.Bounds) (first, end int64) {
	if f.end.Next < 0 && b.Start > 0 {
		return next, next
	}
	end = next
	if len(f.resend) > 0 {
		end = f.resend[0].From.Next
	}
	return max(f.end.Next, from), end
}

// reportUnsealed reports the offsets whose dead letters cannot be written.
func (t *takeOver) reportUnsealed(f *statusesFound) {
	first, end := f.unsealed(t.start, t.Position.Next, t.ends.verdicts)
	if first >= end {
		return
	}
	topic := t.Config.Verdicts
	t.Listener.Note(t.partition, "", fmt.Sprintf("topic %q has no verdicts of the input's offsets %d to %d: it was deleted and made "+
		"again, or the brokers lost records. Letters of them that were not written are lost; decisions go on", topic, first, end-1))
}

// began reports whether a transaction that ended at one place may have begun at another. It follows the rows that were
// sent for the transaction, because all rows of a transaction are full, except the last.
func (f *statusesFound) began(end, at state.Place) bool {
	for last, r := range f.rows {
		if r.To != end {
			continue
		}
		first := last
		for f.rows[first].From != at && first > 0 && f.rows[first-1].To == f.rows[first].From && f.rows[first-1].full() {
			first--
		}
		if f.rows[first].From == at {
			return true
		}
	}
	return false
}

// ended reports whether some sent transaction ended at this place.
func (f *statusesFound) ended(at state.Place) bool {
	return slices.ContainsFunc(f.rows, func(r sealedStatuses) bool { return r.To == at })
}
