package takeover

import (
	"context"
	"errors"
	"fmt"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/order"
	"oriel/state"
)

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
	log := order.Log{Key: t.OrderKey, Topic: topic.ID, Input: t.Position.Topic}
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
		return t.lost(fmt.Sprintf("the order log %q was truncated: it puts %d offsets of the input in order, and %d were taken", topic.Name, reaches, taken), remedy)
	}
	parts := at.Clone()
	for p := range ranges {
		parts.Set(order.Place(at, t.Start, p))
	}
	return t.checkParts(ctx, parts.Parts, ranges)
}

// checkParts returns an error if a partition of the input lacks records that were already taken or ordered.
func (t *takeOver) checkParts(
	ctx context.Context, parts []state.OrderedPart, ranges map[int32][]order.Range,
) error {
	partitions := make([]int32, len(parts))
	var epochs []topics.Epoch // epoch of each partition's taken records, and those of its ranges
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
				return t.lost(fmt.Sprintf("the input was truncated: what is left of partition %d ends at %d, and the order log has it up to %d", r.Partition, end, r.To), TruncatedRemedy)
			}
			before = before[1:]
		}
	}
	return nil
}
