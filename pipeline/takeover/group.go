package takeover

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"oriel/pipeline/kafka/group"
	"oriel/pipeline/order"
	"oriel/pipeline/transaction"
	"oriel/state"
)

// inputs lists the partitions of the input that the stream reads.
func (t *takeOver) inputs() []int32 { return t.Topics.Read(t.Config, t.partition) }

// standing returns the stream's place that corresponds to these offsets of a group, or offset −1 if the group has none.
// In a partition of a whole topic for which the group has no offset, the state's offset counts. The newest transaction
// has left its slot in at least one note. Offsets that were set by hand have no notes.
func (t *takeOver) standing(offsets []group.Offset) state.Place {
	at, any := state.Place{Next: t.Position.Next}, false
	for _, o := range offsets {
		if o.Offset != -1 {
			at.Next, any = at.Next+o.Offset-t.place(o.Partition), true
			at.Slot = max(at.Slot, transaction.SlotOf(o.Note))
		}
	}
	switch stands := t.Position.Place(); {
	case !any:
		return state.Place{Next: -1}
	case stands.Slot == 0:
		at.Slot = 0 // with steps by count no note matters
	case at.Slot == 0:
		at.Slot = stands.Slot
	}
	return at
}

// place returns the offset in a partition of the input up to which the state has taken events.
func (t *takeOver) place(partition int32) int64 {
	if t.Position.Order == nil {
		return t.Position.Next
	}
	return order.Place(t.Position.Order, t.Start, partition).Next
}

// enterAdded fills in the group's missing offsets, each with the start of its partition, if the group's offsets are
// then the beginning of the last transaction. The first transaction that takes events of an added partition also sets
// the group's first offset there. That offset may be aborted together with all others while the state is committed.
func (t *takeOver) enterAdded(f *transactionStatus) {
	if f.group.Next == -1 || t.inOrder(f) {
		return
	}
	entered := *f
	entered.offsets = slices.Clone(f.offsets)
	for i, o := range entered.offsets {
		if o.Offset == -1 {
			entered.offsets[i].Offset = order.Place(&state.Ordered{}, t.Start, o.Partition).Next
		}
	}
	entered.group = t.standing(entered.offsets)
	if t.inOrder(&entered) && f.verdicts.began(t.Position.Place(), entered.group) {
		*f = entered
	}
}

// inOrder reports whether the group's offsets in the partitions of a whole topic belong to one position in its order:
// the position of the state, or another position if the rows of statuses between the two account for it.
func (t *takeOver) inOrder(f *transactionStatus) bool {
	if t.Position.Order == nil {
		return true
	}
	moved := map[int32]int64{}
	from, to, sign := t.Position.Next, f.group.Next, int64(1)
	if from > to {
		from, to, sign = to, from, -1
	}
	for i := len(f.verdicts.rows) - 1; i >= 0 && from < to; i-- {
		r := f.verdicts.rows[i]
		if r.To.Next != to {
			continue
		}
		taken := to - max(from, r.From.Next)
		for _, s := range transaction.Within(r.Stretches, to-taken-r.From.Next, taken) {
			moved[s.Partition] += sign * (s.To - s.From)
		}
		to -= taken
	}
	if from < to {
		return false
	}
	for _, o := range f.offsets {
		if o.Offset != -1 && o.Offset != t.place(o.Partition)+moved[o.Partition] {
			return false
		}
	}
	return true
}

// lookAtGroup distinguishes a group offset that a transaction left from one that an operator of the cluster has set.
// The state is valid in either case, and each event is taken exactly once. But a person who sets offsets expects them
// to take effect, so an offset set by hand is an error. A transaction leaves the offset where it began if only its
// offset was aborted, and where it ends if only its state was aborted. Its sealed rows of statuses record both offsets.
func (t *takeOver) lookAtGroup(ctx context.Context, f *transactionStatus) error {
	c, stand := t.Config, t.Position.Place()
	switch {
	case f.group.Next == -1:
		return nil
	case !t.inOrder(f):
		// Offsets that belong to no single position in the order were set by hand, even if their sum could come from a
		// transaction.
	case f.group.Next == stand.Next && f.group.Slot <= stand.Slot:
		return nil // an earlier slot, of a step without records: nothing could be taken twice
	case f.group.Compare(stand) < 0 && f.verdicts.began(stand, f.group):
		return nil
	case f.group.Compare(stand) > 0 && f.verdicts.ended(f.group):
		f.end = later(f.end, f.group)
		return nil
	}
	others := group.Others(ctx, t.Client, t.Config.GroupConfig(t.Topics.Input.ID))
	stands, differ := t.strayed(f)
	if len(others) > 0 {
		return t.lost(fmt.Sprintf("group %q %s, because processes of this deployment work under another group as well, %q",
			c.Group, strings.Replace(stands, ", the state", " and the state", 1), strings.Join(others, ", ")),
			fmt.Sprintf("A deployment has one group. End the processes of group %q, or give them ORIEL_GROUP=%s", c.Group, others[0]))
	}
	const oneGroup = "Events cannot be taken twice or left out. If this deployment has worked under another ORIEL_GROUP since, give all its " +
		"processes that one. Otherwise stop all members and "
	tool := "kafka-consumer-groups.sh --group " + c.Group + " --topic " + c.Input
	if f.beyondState(stand) {
		// The correct offset is known only after the events have been taken again. If the group has no offset, it is
		// set afterwards.
		var partitions []string
		for _, o := range differ {
			partitions = append(partitions, fmt.Sprint(o.Partition))
		}
		return t.lost(fmt.Sprintf("offsets were reset: the group %s, and more than the state has is committed", stands),
			fmt.Sprintf(oneGroup+"delete the offset, which is then set: %s:%s --delete-offsets", tool, strings.Join(partitions, ",")))
	}
	var commands []string
	for _, o := range differ {
		commands = append(commands,
			fmt.Sprintf("%s:%d --reset-offsets --to-offset %d --execute", tool, o.Partition, o.Offset))
	}
	return t.lost("offsets were reset: the group "+stands, oneGroup+"set the offset back: "+strings.Join(commands, "; "))
}

// strayed describes the offsets of the group and of the state in the first partition in which they differ. It also
// lists the state's offsets in all partitions in which they differ, or in all if only slots differ.
func (t *takeOver) strayed(f *transactionStatus) (stands string, differ []group.Offset) {
	for _, o := range f.offsets {
		at := t.place(o.Partition)
		if o.Offset == -1 || o.Offset == at {
			continue
		}
		if differ = append(differ, group.Offset{Partition: o.Partition, Offset: at}); len(differ) > 1 {
			continue
		}
		stands = fmt.Sprintf("stands at %d, the state at %d", o.Offset, at)
		if t.Position.Order != nil {
			stands += fmt.Sprintf(" in partition %d of the input", o.Partition)
		}
	}
	if len(differ) == 0 { // only the steps differ that have closed without records
		stands = fmt.Sprintf("stands at %v, the state at %v", f.group, t.Position.Place())
		differ = transaction.OffsetsAt(t.partition, t.Position)
	}
	return stands, differ
}
