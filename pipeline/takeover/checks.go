package takeover

import (
	"context"
	"errors"
	"fmt"
	"time"

	"oriel/mechanisms/steps"
	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/order"
	"oriel/state"
)

// check returns an error if a continuation could create a second history: other decisions for the same events.
func (t *takeOver) check(ctx context.Context, f *transactionStatus) error {
	if err := t.checkUnconfirmed(f); err != nil {
		return err
	}
	if err := t.checkInput(ctx, f.end.Next); err != nil {
		return err
	}
	return t.checkSemantics(ctx, f)
}

// checkUnconfirmed returns an error if the local store has a newer state than the committed one, but the changelog has
// no record of it. If the changelog has the state as an aborted record, there is no error. The length of the log does
// not help here, because markers of take-overs soon fill a small gap at the end of a log that lost records.
func (t *takeOver) checkUnconfirmed(f *transactionStatus) error {
	sealed := t.Log.Unconfirmed(t.StateKey)
	if sealed == nil {
		return nil // the partition has no such records
	}
	at, _, err := t.Sealer.Open(sealed)
	if err != nil || at.Place().Compare(t.Position.Place()) <= 0 || f.verdicts.ended(at.Place()) {
		return nil
	}
	return changelog.LostRecords(t.partition, fmt.Sprintf("the state of the local store stands at %v of the input, the changelog's state at %v, and nothing else of the transaction between them is left", at.Place(), t.Position.Place()))
}

// Messages for an input that lost records that the state has taken.
const (
	Truncated       = "the input was truncated below the offset that the state has taken"
	TruncatedRemedy = "Acknowledged events were lost on the brokers; open a new deployment under another ORIEL_NAME"
)

// checkInput returns an error if the input does not continue where the state ends, or ends before records that were
// taken.
func (t *takeOver) checkInput(ctx context.Context, taken int64) error {
	if t.Position.Order != nil {
		return t.checkOrder(ctx, taken)
	}
	return t.checkPartition(ctx, t.partition, t.Position.LeaderEpoch, t.Position.Next, taken)
}

// checkPartition returns an error if a partition of the input does not continue at offset next after a record batch of
// an epoch, or ends before records that were taken.
func (t *takeOver) checkPartition(ctx context.Context, p, epoch int32, next, taken int64) error {
	start, end, err := t.left(ctx, t.Config.Input, p, epoch, next)
	return t.judge(p, start, end, next, taken, err)
}

// judge returns an error for a partition of the input that lost records. It decides by the partition's start and end,
// or by the error of the request for them.
func (t *takeOver) judge(p int32, start, end, next, taken int64, err error) error {
	input := "the input"
	if t.Position.Order != nil {
		input = fmt.Sprintf("partition %d of the input", p)
	}
	switch {
	case errors.Is(err, kafka.ErrTruncated):
		return &notice.StopError{Partition: t.partition, Reason: Truncated, Remedy: TruncatedRemedy, Cause: err, Loss: true}
	case err != nil:
		return err
	case start > next:
		return t.lost(fmt.Sprintf("events were deleted before they were taken: %s starts at %d, the state needs %d", input, start, next),
			"Open a new deployment under another ORIEL_NAME, and keep events longer than the longest outage")
	case end < taken:
		return t.lost(fmt.Sprintf("%s was truncated: it now ends at %d, and events were taken up to %d", input, end, taken), TruncatedRemedy)
	}
	return nil
}

// left returns the start of a log, and the end up to which it continues after a record batch of an epoch that ends
// before an offset. If the log does not have this epoch, the error is kafka.ErrTruncated.
func (t *takeOver) left(ctx context.Context, topic string, p, epoch int32, next int64) (start, end int64, err error) {
	bounds, err := topics.BoundsOf(ctx, t.Client, topic, p)
	if err != nil {
		return 0, 0, fmt.Errorf("pipeline: bounds of %s: %w", kafka.PartitionName(topic, p), err)
	}
	if epoch < 0 || bounds.Start > next {
		return bounds.Start, bounds.High, nil
	}
	known, err := topics.EpochEnd(ctx, t.Client, topic, p, epoch)
	if err != nil {
		return 0, 0, fmt.Errorf("pipeline: epoch of %s: %w", kafka.PartitionName(topic, p), err)
	}
	return bounds.Start, continues(bounds.High, known, next), nil
}

// continues returns the offset up to which a log continues after the record batch before offset next. known is the end
// of the epoch of this batch, or −1 if it is unknown.
func continues(high, known, next int64) int64 {
	if known >= 0 && known < next {
		return min(high, known) // later records belong to another history
	}
	return high
}

// checkSemantics returns an error if this version has other semantics than the state, and would have to recompute a
// decision that consumers can already read.
func (t *takeOver) checkSemantics(ctx context.Context, f *transactionStatus) error {
	was, is := t.Position.Semantics, t.Model.Semantics
	if was == is {
		return nil
	}
	tail := false
	for i, topic := range t.Topics.Outputs() {
		b := t.ends.decisions[i]
		tail = tail || !f.decisions[i].any && b.Start > 0 // the last decisions were deleted, so their steps are unknown
		for r, err := range fetch.Records(ctx, t.Client, topic, t.partition, b.Start, b.High, true) {
			if err != nil {
				return err
			}
			if d, ours := t.decision(r.Value); ours && t.isBehind(d) {
				tail = true
				break
			}
		}
	}
	if tail {
		return t.stop(fmt.Sprintf("the state was computed under semantics %d, this version has %d, and decisions behind the state can be read: a repetition could differ from them", was, is),
			"Start the old version once, and stop it after it has committed; then start this one")
	}
	t.Listener.Note(t.partition, fmt.Sprintf("the state was computed under semantics %d; no decision behind the state can be read, so the stream goes on under semantics %d", was, is), "")
	t.Position.Semantics = is
	t.sealed = t.Sealer.Seal(nil, t.Position, t.Stream.AppendState(nil))
	return nil
}

// longOutage is the longest outage by the clock after which a stream goes on without being asked to.
const longOutage = 24 * time.Hour

// checkOutage returns an error after a long outage of a stream by the clock, because all its steps would be published
// at once, and without brokers' times in the input all its events would be in one step. A stream that has closed no
// step may begin in the past.
func (t *takeOver) checkOutage() error {
	clock := t.Model.Clock
	if clock.Counts() || t.Config.CatchUp || t.Position.Step == t.Stream.Base() {
		return nil
	}
	end := time.Unix(clock.End(t.Position.Step), 0).UTC()
	if !isLong(time.Since(end), clock) {
		return nil
	}
	return &notice.StopError{
		Partition: t.partition, Public: true,
		Reason: fmt.Sprintf("the last published step ended at %s, more than a day ago", end.Format(time.RFC3339)),
		Remedy: "Start `oriel run --catch-up` to publish all steps since, or open a new deployment under another ORIEL_NAME; " +
			"`oriel plan` prints what an hour of outage costs",
	}
}

// isLong reports whether an outage is a long one, given the time since the end of the last step with a decision.
// Without any outage the next step may still be open.
func isLong(since time.Duration, clock steps.Clock) bool {
	return since > longOutage+time.Duration(clock.Length)*time.Second
}

// Reason and remedy for an order log that was compacted.
const (
	Holed       = "the order log lacks records between others: it was compacted, and nothing says in which order the input goes on"
	HoledRemedy = "Restore the order log from a backup and set its cleanup.policy to delete, or open a new deployment under another ORIEL_NAME"
)

// checkOrder returns an error in three cases: the order log does not continue where the state ends, it ends before the
// events taken so far, or the input has lost records that the log has ordered.
func (t *takeOver) checkOrder(ctx context.Context, taken int64) error {
	at, topic := t.Position.Order, t.Topics.Order
	const remedy = "Restore the order log from a backup, or open a new deployment under another ORIEL_NAME; its privacy loss adds to the old one's for events that both read"
	if at.Log != topic.ID {
		return t.stop(fmt.Sprintf("the order log %q was deleted and made again: nothing says in which order the input goes on", topic.Name), remedy)
	}
	start, end, err := t.left(ctx, topic.Name, 0, at.LeaderEpoch, at.Next)
	switch {
	case errors.Is(err, kafka.ErrTruncated) || err == nil && end < at.Next:
		return &notice.StopError{Partition: t.partition, Reason: fmt.Sprintf("the order log %q was truncated below record %d, which the state has taken", topic.Name, at.Next), Remedy: remedy, Cause: err, Loss: true}
	case err != nil:
		return err
	case start > at.Next:
		return t.lost(fmt.Sprintf("order records were deleted before they were taken: the order log %q starts at %d, the state needs %d", topic.Name, start, at.Next), remedy)
	}
	log := order.LogOf(t.OrderKey, at, t.Position.Topic)
	ahead, err := log.Ahead(ctx, t.Client, topic, at, t.Start)
	if errors.Is(err, order.ErrFormat) {
		return &notice.StopError{
			Partition: t.partition, Reason: "the order log has a record that this version cannot read",
			Remedy: "Start the version that wrote it, or a later one", Cause: err,
		}
	}
	if err != nil {
		return fmt.Errorf("pipeline: partition %d: %w", t.partition, err)
	}
	reaches := t.Position.Next
	ranges := map[int32][]order.Range{}
	for _, r := range ahead {
		reaches += r.To - r.From
		ranges[r.Partition] = append(ranges[r.Partition], r)
	}
	if reaches < taken {
		return t.lost(fmt.Sprintf("the order log %q was truncated: the log puts %d offsets of the input in order, but %d were taken", topic.Name, reaches, taken), remedy)
	}
	parts := at.Clone()
	for p := range ranges {
		parts.Set(order.Place(at, t.Start, p))
	}
	return t.checkParts(ctx, parts.Parts, ranges)
}

// checkParts returns an error if a partition of the input lacks records that were already taken or ordered.
func (t *takeOver) checkParts(ctx context.Context, parts []state.OrderedPart, ranges map[int32][]order.Range) error {
	partitions := make([]int32, len(parts))
	var epochs []topics.Epoch // epochs of each partition's taken records, and of its ranges
	for i, part := range parts {
		partitions[i] = part.Partition
		epochs = append(epochs, topics.Epoch{Partition: part.Partition, Epoch: max(part.LeaderEpoch, 0)})
		for _, r := range ranges[part.Partition] {
			epochs = append(epochs, topics.Epoch{Partition: r.Partition, Epoch: r.Epoch})
		}
	}
	bounds, err := topics.BoundsOfAll(ctx, t.Client, t.Topics.Input, partitions)
	if err != nil {
		return fmt.Errorf("pipeline: bounds of the input: %w", err)
	}
	before, err := topics.EpochsBefore(ctx, t.Client, t.Topics.Input, epochs)
	if err != nil {
		return fmt.Errorf("pipeline: epochs of the input: %w", err)
	}
	for i, part := range parts {
		end := bounds[i].High
		if part.LeaderEpoch >= 0 && bounds[i].Start <= part.Next {
			known, err := before[0].EndOf(part.LeaderEpoch)
			if err != nil {
				return t.judge(part.Partition, 0, 0, 0, 0, err)
			}
			end = continues(end, known, part.Next)
		}
		before = before[1:]
		if err := t.judge(part.Partition, bounds[i].Start, end, part.Next, part.Next, nil); err != nil {
			return err
		}
		for _, r := range ranges[part.Partition] {
			if end := before[0].Reach(bounds[i]); end < r.To {
				return t.lost(fmt.Sprintf("the input was truncated: partition %d now ends at %d, and the order log has it up to %d", r.Partition, end, r.To), TruncatedRemedy)
			}
			before = before[1:]
		}
	}
	return nil
}
