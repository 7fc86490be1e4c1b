package pipeline

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"oriel/state"
)

// transactionStatus is how the transactions of earlier owners have ended, seen from the committed state.
//
// A transaction is to end equally in all its topics, and a coordinator that crashes after it has decided may never tell
// some of them: then they are aborted at the take-over (kafka.Producer.Settle). So decisions, verdicts and group offset
// may each stand before the state, at it, or behind it. Each part stands at the end of some transaction, because only a
// take-over aborts, and it repairs before anything else is sent.
//
//   - Before the state: the missing bytes are in their topic, aborted: the state was sent after them, and committed.
//   - Behind the state: the transaction was decided, or its commit could not stand anywhere. Its events are taken again.
//     The decisions before the first event stand behind a state that owes them (open.go), and are made again.
//
// All of it is public: offsets, indices and decisions. What a take-over does is a function of them alone.
type transactionStatus struct {
	decisions []decisionsFound // by output
	verdicts  statusesFound
	group     int64
	end       int64 // of the input offsets that the committed parts stand on; more if decisions beyond the state need it
}

// complete reports whether nothing has to be sent beside a state.
func (f *transactionStatus) complete(at state.Position) bool {
	aborted := slices.ContainsFunc(f.decisions, func(d decisionsFound) bool { return len(d.resend) > 0 })
	return !at.Owes && !f.beyondState(at.Next) && !aborted && len(f.verdicts.resend) == 0 &&
		(f.group == -1 || f.group == at.Next)
}

// beyondState tells that something committed stands behind the state.
func (f *transactionStatus) beyondState(next int64) bool {
	_, beyond := f.reach()
	return f.end > next || beyond
}

// reach is the index of the last committed decision behind the state, and whether there is one.
func (f *transactionStatus) reach() (index uint64, beyond bool) {
	for _, d := range f.decisions {
		if len(d.beyondState) > 0 {
			index, beyond = max(index, d.index), true
		}
	}
	return index, beyond
}

// inspect finds how everything stands beside the committed state.
func (t *task) inspect(ctx context.Context, o *ownedPartition, e endOffsets) (*transactionStatus, error) {
	decisions, err := t.findDecisions(ctx, o, e.decisions)
	if err != nil {
		return nil, err
	}
	verdicts, err := t.findStatuses(ctx, o, e.verdicts)
	if err != nil {
		return nil, err
	}
	t.reportUnsealed(o, &verdicts, e.verdicts)
	f := &transactionStatus{
		decisions: decisions, verdicts: verdicts, group: e.group, end: max(o.position.Next, verdicts.end),
	}
	return f, t.lookAtGroup(ctx, o.position.Next, f)
}

// lookAtGroup tells an offset of the group that a transaction has left from one that somebody has set. The state is
// right in either case, and neither takes an event twice or leaves one out; but who sets offsets expects something
// else, and is told so. A transaction leaves the offset where it began, if only its offset was aborted, or where it
// ends, if only its state was; its verdicts, sealed, say what these are.
func (t *task) lookAtGroup(ctx context.Context, next int64, f *transactionStatus) error {
	c := t.service.config
	switch {
	case f.group == -1, f.group == next:
		return nil
	case f.group < next && f.verdicts.began(next, f.group):
		return nil
	case f.group > next && f.verdicts.ended(f.group):
		f.end = max(f.end, f.group)
		return nil
	}
	if others := t.service.client.OtherGroups(ctx, t.service.groupConfig()); len(others) > 0 {
		return t.lost(fmt.Sprintf("group %q stands at %d and the state at %d, because processes of this deployment work under another group as well, %q",
			c.Group, f.group, next, strings.Join(others, ", ")),
			fmt.Sprintf("A deployment has one group. End the processes of group %q, or give them ORIEL_GROUP=%s", c.Group, others[0]))
	}
	const oneGroup = "Events cannot be taken twice or left out. If this deployment has worked under another ORIEL_GROUP since, give all its " +
		"processes that one. Otherwise stop all members and "
	if f.beyondState(next) {
		// The right offset is not known before the events are taken again; without an offset, it is set then.
		return t.lost(fmt.Sprintf("offsets were reset: the group stands at %d, the state at %d, and more than the state has is committed", f.group, next),
			fmt.Sprintf(oneGroup+"delete the offset, which is then set: kafka-consumer-groups.sh --group %s --topic %s:%d --delete-offsets",
				c.Group, c.Input, t.partition))
	}
	return t.lost(fmt.Sprintf("offsets were reset: the group stands at %d, the state at %d", f.group, next),
		fmt.Sprintf(oneGroup+"set the offset back: kafka-consumer-groups.sh --group %s --topic %s:%d --reset-offsets --to-offset %d --execute",
			c.Group, c.Input, t.partition, next))
}
