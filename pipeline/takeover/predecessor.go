package takeover

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"oriel/operators"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/decision"
	"oriel/state"
)

// inheritance describes up to where the predecessor has worked in a partition.
type inheritance struct {
	exists bool                // the predecessor has taken events of the partition
	next   int64               // first offset that it has not committed
	last   *operators.Decision // its last readable decision; nil if it published none
}

// inherit ends the predecessor in the partition, so that its topics cannot change any more, and then reads up to where
// it has worked. A step may have a published decision although the group's offset is not beyond its events: such a step
// is released twice, all others once (mechanisms/decay/PROOF.md, Theorem 3).
func (t *takeOver) inherit(ctx context.Context, input topics.Bounds) (inheritance, error) {
	f, p := t.Config.Predecessor, t.partition
	states, decisions, err := t.predecessorTopics(ctx)
	if err != nil {
		return inheritance{}, err
	}
	if err := t.refuseWhole(ctx, decisions); err != nil {
		return inheritance{}, err
	}
	if int(p) >= decisions.Partitions { // the predecessor never had this partition, which was added later
		return inheritance{}, nil
	}
	if err := t.endPredecessor(ctx, states, decisions, p); err != nil {
		return inheritance{}, err
	}
	var left inheritance
	if _, left.last, err = t.predecessorDecision(ctx, decisions, p, t.name); err != nil {
		return inheritance{}, err
	}
	offset, err := group.CommittedOffset(ctx, t.Client, f.Group, t.Config.Input, p)
	if err != nil {
		return inheritance{}, fmt.Errorf("pipeline: offset of group %s: %w", f.Group, err)
	}
	left.exists = offset >= 0
	if left.last != nil && !left.exists {
		return inheritance{}, t.noOffset()
	}
	if left.next, err = t.predecessorOffset(p, offset, input); err != nil {
		return inheritance{}, err
	}
	if left.last != nil {
		t.Listener.Note(p, fmt.Sprintf("goes on after %s: from its decision of step %d, at offset %d", f.Name, left.last.Step, left.next))
	}
	return left, nil
}

// inheritAll ends the predecessor of a whole topic's stream in all partitions, and then moves at to the offsets of the
// predecessor's group. It returns the last decision of the predecessor's stream that this stream continues, or nil if
// it starts afresh. Each event was in one stream of the predecessor, so that steps compose as in inherit.
func (t *takeOver) inheritAll(
	ctx context.Context, at *state.Ordered, inputs []topics.Bounds,
) (*operators.Decision, error) {
	f := t.Config.Predecessor
	states, decisions, err := t.predecessorTopics(ctx)
	if err != nil {
		return nil, err
	}
	from, err := t.predecessorStream(decisions)
	if err != nil {
		return nil, err
	}
	if err := eachAtOnce(decisions.Partitions, func(p int) error {
		return t.endPredecessor(ctx, states, decisions, int32(p))
	}); err != nil {
		return nil, err
	}
	var last *operators.Decision
	if from >= 0 {
		names := []string{deployment.Config{}.StreamName(from)}
		if decisions.Partitions == 1 {
			names = append(names, t.Config.Input) // because the predecessor may have been one stream of the whole topic
		}
		if _, last, err = t.predecessorDecision(ctx, decisions, from, names...); err != nil {
			return nil, err
		}
		if last == nil && f.Stream != "" {
			return nil, t.stop(fmt.Sprintf("ORIEL_AFTER_STREAM: stream %d of %q has published no decision", from, f.Name),
				"Name another stream, or set ORIEL_AFTER_STREAM=none: this deployment then learns from nothing, where the other one ended")
		}
	}
	offsets, err := group.CommittedOffsets(ctx, t.Client, f.Group, t.Config.Input, t.inputs())
	if err != nil {
		return nil, fmt.Errorf("pipeline: offsets of group %s: %w", f.Group, err)
	}
	for _, o := range offsets {
		switch part, _ := at.Part(o.Partition); {
		case o.Offset >= 0:
			if part.Next, err = t.predecessorOffset(o.Partition, o.Offset, inputs[o.Partition]); err != nil {
				return nil, err
			}
			at.Set(part)
		case last != nil && o.Partition == from: // a whole topic's stream has offsets in all its partitions
			return nil, t.noOffset()
		}
	}
	if last != nil {
		t.Listener.Note(t.partition, fmt.Sprintf("goes on after %s: from its decision of step %d, where its group stands in each partition", f.Name, last.Step))
	}
	return last, nil
}

// predecessorStream returns the partition of the predecessor's decisions whose stream this one continues, or −1 if
// there is none. If there are several, it returns an error that asks for a choice.
func (t *takeOver) predecessorStream(decisions topics.Topic) (int32, error) {
	f := t.Config.Predecessor
	switch {
	case f.Stream == deployment.NoStream:
		return -1, nil
	case f.Stream == "" && decisions.Partitions > 1:
		return 0, t.stop(fmt.Sprintf("ORIEL_AFTER: %q has %d streams, and this deployment has one, which can go on from one decision", f.Name, decisions.Partitions),
			"Set ORIEL_AFTER_STREAM to the partition whose last decision is best for all, or to none: this deployment then learns from nothing, where the other one ended")
	case f.Stream == "":
		return 0, nil
	}
	p, err := strconv.ParseInt(f.Stream, 10, 32) // valid, because the configuration was checked
	if err != nil || int(p) >= decisions.Partitions {
		return 0, t.stop(fmt.Sprintf("ORIEL_AFTER_STREAM: %q has streams 0 to %d, and no stream %s", f.Name, decisions.Partitions-1, f.Stream),
			"Name one of them, or none")
	}
	return int32(p), nil
}

// predecessorTopics describes the predecessor's topics; its topic of states may be deleted.
func (t *takeOver) predecessorTopics(ctx context.Context) (states, decisions topics.Topic, err error) {
	f := t.Config.Predecessor
	cluster, err := topics.Describe(ctx, t.Client, f.Decisions, f.Changelog)
	if err != nil {
		return states, decisions, fmt.Errorf("pipeline: describe the topics of %s: %w", f.Name, err)
	}
	decisions, has := cluster.Topics[f.Decisions]
	if !has {
		return states, decisions, t.stop(fmt.Sprintf(
			"ORIEL_AFTER: the decision topic %q of %q does not exist", f.Decisions, f.Name,
		),
			"Correct ORIEL_AFTER or ORIEL_AFTER_DECISION_TOPIC; without its decisions there is nothing to go on from: leave ORIEL_AFTER out then")
	}
	return cluster.Topics[f.Changelog], decisions, nil
}

// refuseWhole returns an error if the predecessor is one stream of the whole input, because a stream of one partition
// cannot continue it.
func (t *takeOver) refuseWhole(ctx context.Context, decisions topics.Topic) error {
	if decisions.Partitions > 1 {
		return nil
	}
	stream, _, err := t.predecessorDecision(ctx, decisions, 0, deployment.Config{}.StreamName(0), t.Config.Input)
	if err != nil || stream != t.Config.Input || stream == t.name {
		return err
	}
	return t.stop(fmt.Sprintf("ORIEL_AFTER: %q is one stream of the whole input, and a stream of one partition cannot go on from it", t.Config.Predecessor.Name),
		"Set ORIEL_STREAM=topic, or leave ORIEL_AFTER out and start from nothing: the losses then add for events that both read")
}

// noOffset returns the error for a predecessor that has decisions but no known offset in the input.
func (t *takeOver) noOffset() error {
	f := t.Config.Predecessor
	return t.stop(fmt.Sprintf("ORIEL_AFTER: group %q of %q has no committed offset, so that nothing says which events its decisions stand on", f.Group, f.Name),
		"Correct ORIEL_AFTER_GROUP; if the group was forgotten, name the place yourself: kafka-consumer-groups.sh --reset-offsets for that group and topic")
}

// predecessorOffset returns the offset at which to continue in a partition of the input in which the predecessor's
// group has an offset.
func (t *takeOver) predecessorOffset(p int32, offset int64, input topics.Bounds) (int64, error) {
	f := t.Config.Predecessor
	switch {
	case offset > input.High:
		return 0, t.lost(fmt.Sprintf("ORIEL_AFTER: group %q stands at offset %d of partition %d, and the input ends at %d", f.Group, offset, p, input.High),
			"The input was truncated or made again: leave ORIEL_AFTER out, and start from nothing")
	case offset >= 0 && offset < input.Start:
		t.Listener.Note(t.partition, fmt.Sprintf("%s stood at offset %d of partition %d, which starts at %d: what was between them is deleted, and is learned from by nobody",
			f.Name, offset, p, input.Start))
	}
	return max(offset, input.Start), nil
}

// endPredecessor takes over the predecessor's transactional id, so that brokers refuse any process of it that still
// runs. It also writes an end marker into the predecessor's changelog, so that it never starts again. A predecessor
// without a changelog has no state to start from.
func (t *takeOver) endPredecessor(ctx context.Context, states, decisions topics.Topic, p int32) error {
	if t.examines != nil {
		return nil
	}
	f := t.Config.Predecessor
	parts := []kafka.TopicPartition{{Topic: decisions.Name, Partition: p}}
	marked := int(p) < states.Partitions
	if marked {
		parts = append(parts, kafka.TopicPartition{Topic: states.Name, Partition: p})
	}
	producer, err := produce.New(
		ctx, t.Client, deployment.Config{Name: f.Name}.TransactionalID(t.Topics.Input.ID, p), deployment.TransactionTimeout,
	)
	if err == nil {
		err = producer.Settle(ctx, parts, f.Group)
	}
	if err == nil && marked {
		err = changelog.WriteRecord(ctx, producer, parts[1], state.EndedKey(), []byte(t.Config.Name))
	}
	switch {
	case err == nil:
		return nil
	case kafka.Classify(err) == kafka.Fenced: // a live process of the predecessor fenced us; this stream stays ours
		return fmt.Errorf("pipeline: partition %d: end of %s: the old deployment has taken its id back: %s", p, f.Name, err.Error())
	}
	return fmt.Errorf("pipeline: partition %d: end of %s: %w", p, f.Name, err)
}

// predecessorDecision reads the last committed decision in a partition whose stream has one of these names, in any
// incarnation. It returns nil if there is none.
func (t *takeOver) predecessorDecision(
	ctx context.Context, topic topics.Topic, p int32, names ...string,
) (stream string, last *operators.Decision, err error) {
	b, err := t.end(ctx, topic.Name, p)
	if err != nil {
		return "", nil, fmt.Errorf("pipeline: partition %d of %s: %w", p, topic.Name, err)
	}
	for from := range fetch.Backwards(b.Start, b.Stable) {
		for r, err := range fetch.Records(ctx, t.Client, topic, p, from, b.Stable, false) {
			if err != nil {
				return "", nil, err
			}
			if d, err := decision.Parse(r.Value); err == nil && slices.Contains(names, d.Stream) && d.Step > 0 {
				stream, last = d.Stream, &operators.Decision{Index: d.Index, Step: d.Step, Point: d.Point}
			}
		}
		if last != nil {
			break
		}
	}
	return stream, last, nil
}

// atOnce bounds the number of concurrent requests of a take-over.
const atOnce = 16

// eachAtOnce calls do for 0 … n − 1, up to atOnce of them concurrently, and waits for all. Of several errors it returns
// the error with the smallest index.
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
	return cmp.Or(errs...)
}
