package takeover

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/order"
	"oriel/state"
)

// checkOrder refuses to go on when the order log does not continue where the state ends, or does not reach to what was
// taken before, or when the input has lost something that the log has put in order.
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
	return eachAtOnce(len(parts.Parts), func(i int) error {
		return t.checkPart(ctx, parts.Parts[i], ranges[parts.Parts[i].Partition])
	})
}

// checkPart refuses to go on when a partition of the input does not have what was taken of it, or what was put in
// order.
func (t *takeOver) checkPart(ctx context.Context, part state.OrderedPart, ranges []order.Range) error {
	if err := t.checkPartition(ctx, part.Partition, part.LeaderEpoch, part.Next, part.Next); err != nil {
		return err
	}
	for _, r := range ranges {
		end, err := topics.Reach(ctx, t.Client, t.Config.Input, r.Partition, r.Epoch)
		if err != nil {
			return fmt.Errorf("pipeline: epochs of the input: %w", err)
		}
		if end < r.To {
			return t.lost(fmt.Sprintf("the input was truncated: what is left of partition %d ends at %d, and the order log has it up to %d", r.Partition, end, r.To), TruncatedRemedy)
		}
	}
	return nil
}

// atOnce bounds the requests of a take-over that are under way together.
const atOnce = 16

// eachAtOnce calls do for 0 … n − 1, some at once, and waits for all. It returns the first error by index.
func eachAtOnce(n int, do func(i int) error) error {
	var running sync.WaitGroup
	errs, slots := make([]error, n), make(chan struct{}, atOnce)
	for i := range n {
		slots <- struct{}{}
		running.Go(func() {
			errs[i] = do(i)
			<-slots
		})
	}
	running.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
