package takeover

import (
	"context"
	"fmt"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/order"
)

// Examination says how far Examine goes.
type Examination struct {
	// Events lets Examine take events again, like Run, if a transaction has ended in some topics and not in others. It
	// then decodes events, which are private.
	Events bool
}

// Examine makes every check of Run, and returns the error with which Run would stop. It changes nothing: it fences no
// owner, ends no transaction, and writes no record. So it may run beside an owner at work, whose transactions move the
// ends between two requests. An error of a loss may come from that, and counts only if it is found again.
//
// It also returns the error with which the stream would stop at its next event, because its horizon is reached.
func Examine(ctx context.Context, ports Ports, partition int32, e Examination) error {
	t := &takeOver{Ports: ports, partition: partition, name: ports.Config.StreamName(partition), examines: &e}
	if err := t.look(ctx); err != nil {
		return fmt.Errorf("pipeline: partition %d: %w", partition, err)
	}
	owned, err := t.take(ctx)
	if err != nil {
		return err
	}
	return t.checkHorizon(ctx, owned)
}

// look finds the ends without fencing. The changelog comes first and the verdicts last, so that with an owner at work
// the other topics are never behind the state, and rows of statuses explain every offset of the group.
func (t *takeOver) look(ctx context.Context) (err error) {
	p := t.partition
	if t.ends.changelog, err = t.end(ctx, t.Config.Changelog, p); err != nil {
		return err
	}
	if err = t.describeInput(ctx); err != nil {
		return err
	}
	if t.ends.group, err = group.LastOffsets(ctx, t.Client, t.Config.Group, t.Config.Input, t.inputs()); err != nil {
		return err
	}
	for _, topic := range t.Topics.Outputs() {
		b, err := t.end(ctx, topic.Name, p)
		if err != nil {
			return err
		}
		t.ends.decisions = append(t.ends.decisions, b)
	}
	t.ends.verdicts, err = t.end(ctx, t.Config.Verdicts, p)
	return err
}

// end returns the ends of a partition that an owner writes. A take-over waits until its transactions are decided. An
// examination does not wait, because nobody may end them.
func (t *takeOver) end(ctx context.Context, topic string, p int32) (topics.Bounds, error) {
	if t.examines != nil {
		return topics.BoundsOf(ctx, t.Client, topic, p)
	}
	return topics.StableEnd(ctx, t.Client, topic, p)
}

// checkHorizon returns the error of a stream that has closed its last step, if the input has another event. The clock
// closes the next step also without an event.
func (t *takeOver) checkHorizon(ctx context.Context, o *Owned) error {
	reached := notice.HorizonReached(t.partition, o.Stream.Guarantee().Scope.End())
	switch {
	case o.Position.Step < o.Stream.End():
		return nil
	case o.Position.Order != nil && o.Position.Order.Clock:
		return reached
	}
	for _, p := range t.inputs() {
		next := o.Position.Next
		if o.Position.Order != nil {
			next = order.Place(o.Position.Order, o.Start, p).Next
		}
		bounds, err := topics.BoundsOf(ctx, t.Client, t.Config.Input, p)
		if err != nil {
			return fmt.Errorf("pipeline: partition %d: bounds of the input: %w", p, err)
		}
		follows, err := fetch.HasRecord(ctx, t.Client, t.Topics.Input, p, next, bounds.Stable, false)
		if err != nil || follows {
			if err == nil {
				err = reached
			}
			return err
		}
	}
	return nil
}
