package takeover

import (
	"context"
	"fmt"

	"oriel/operators"
	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas"
	"oriel/state"
)

// inheritance is what a predecessor has left of a partition.
type inheritance struct {
	exists bool                // it has taken events of the partition
	next   int64               // the first that it has not committed
	last   *operators.Decision // the last that can be read; nil: it has published none
}

// inherit ends the predecessor in the partition, and then reads what it has left: nothing of it can change any
// more. Steps whose decisions somebody may have read, though the group does not stand behind their events, are released
// twice; all others once (mechanisms/decay/PROOF.md, Theorem 3).
func (t *takeOver) inherit(ctx context.Context, input topics.Bounds) (inheritance, error) {
	f := t.Config.Predecessor
	cluster, err := topics.Describe(ctx, t.Client, f.Decisions, f.Changelog)
	if err != nil {
		return inheritance{}, fmt.Errorf("pipeline: describe the topics of %s: %w", f.Name, err)
	}
	decisions, has := cluster.Topics[f.Decisions]
	if !has {
		return inheritance{}, t.stop(fmt.Sprintf(
			"ORIEL_AFTER: the decision topic %q of %q does not exist", f.Decisions, f.Name,
		),
			"Correct ORIEL_AFTER or ORIEL_AFTER_DECISION_TOPIC; without its decisions there is nothing to go on from: leave ORIEL_AFTER out then")
	}
	if int(t.partition) >= decisions.Partitions { // added to the input since: it never had this one
		return inheritance{}, nil
	}
	if err := t.endPredecessor(ctx, cluster.Topics[f.Changelog], decisions); err != nil {
		return inheritance{}, err
	}
	bounds, err := topics.StableEnd(ctx, t.Client, f.Decisions, t.partition)
	if err != nil {
		return inheritance{}, fmt.Errorf("pipeline: partition %d of %s: %w", t.partition, f.Decisions, err)
	}
	var left inheritance
	if left.last, err = t.predecessorDecision(ctx, decisions, bounds); err != nil {
		return inheritance{}, err
	}
	offset, err := group.CommittedOffset(ctx, t.Client, f.Group, t.Config.Input, t.partition)
	if err != nil {
		return inheritance{}, fmt.Errorf("pipeline: offset of group %s: %w", f.Group, err)
	}
	err = t.predecessorOffset(&left, offset, input)
	return left, err
}

// predecessorOffset finds the offset to go on from.
func (t *takeOver) predecessorOffset(left *inheritance, offset int64, input topics.Bounds) error {
	f := t.Config.Predecessor
	left.exists, left.next = offset >= 0, max(offset, input.Start)
	switch {
	case offset < 0 && left.last != nil:
		return t.stop(fmt.Sprintf("ORIEL_AFTER: group %q of %q has no committed offset, so that nothing says which events its decisions stand on", f.Group, f.Name),
			"Correct ORIEL_AFTER_GROUP; if the group was forgotten, name the place yourself: kafka-consumer-groups.sh --reset-offsets for that group and topic")
	case offset > input.High:
		return t.lost(fmt.Sprintf("ORIEL_AFTER: group %q stands at offset %d, and the input ends at %d", f.Group, offset, input.High),
			"The input was truncated or made again: leave ORIEL_AFTER out, and start from nothing")
	case offset >= 0 && offset < input.Start:
		t.Listener.Note(t.partition, fmt.Sprintf("%s stood at offset %d and the input starts at %d: what was between them is deleted, and is learned from by nobody",
			f.Name, offset, input.Start))
	}
	if left.last != nil {
		t.Listener.Note(t.partition, fmt.Sprintf("goes on after %s: from its decision of step %d, at offset %d", f.Name, left.last.Step, left.next))
	}
	return nil
}

// endPredecessor takes the predecessor's transactional id over, so that whatever runs of it is refused, and writes into
// its changelog that it is over, so that it does not come back. Without a changelog it has nothing to come back to.
func (t *takeOver) endPredecessor(ctx context.Context, states, decisions topics.Topic) error {
	f, p := t.Config.Predecessor, t.partition
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
	case kafka.Classify(err) == kafka.Fenced: // by a process of it that is alive; this partition stays ours
		return fmt.Errorf("pipeline: partition %d: end of %s: it has taken its id back: %s", p, f.Name, err.Error())
	}
	return fmt.Errorf("pipeline: partition %d: end of %s: %w", p, f.Name, err)
}

// predecessorDecision reads the last committed decision of the partition's stream, whichever life of it published it.
func (t *takeOver) predecessorDecision(
	ctx context.Context, topic topics.Topic, b topics.Bounds,
) (*operators.Decision, error) {
	var last *operators.Decision
	for from := range fetch.Backwards(b.Start, b.Stable) {
		for r, err := range fetch.Records(ctx, t.Client, topic, t.partition, from, b.Stable, false) {
			if err != nil {
				return nil, err
			}
			if d, err := schemas.ParseDecision(r.Value); err == nil && d.Stream == t.name && d.Step > 0 {
				last = &operators.Decision{Index: d.Index, Step: d.Step, Point: d.Point}
			}
		}
		if last != nil {
			break
		}
	}
	return last, nil
}
