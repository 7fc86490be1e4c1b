package deployment

import (
	"bytes"
	"context"
	"fmt"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// missingTopic returns an error if a missing topic shows that a deployment which has worked before has lost its input
// or its state. Creating the topic again would not restore them. It returns nil if the missing topics were never
// created.
func missingTopic(
	ctx context.Context, client *kafka.Client, c Config, used []role, cluster topics.Cluster,
) (problem, err error) {
	if _, exists := cluster.Topics[c.Input]; !exists {
		before, err := everOpened(ctx, client, cluster.Topics[c.Changelog])
		if err != nil {
			return nil, err
		}
		return missingInput(c.Input, before), nil
	}
	if _, exists := cluster.Topics[c.Changelog]; exists {
		return missingForGood(ctx, client, c, used, cluster)
	}
	for _, r := range used {
		topic := cluster.Topics[r.topic(&c)]
		if !r.transactional || topic.Name == "" {
			continue
		}
		written, err := everOpened(ctx, client, topic)
		if err != nil {
			return nil, err
		}
		if written {
			return stop(
				fmt.Sprintf("changelog topic %q does not exist, and %s topic %q has records: the state of this deployment is lost",
					c.Changelog, r.name, topic.Name),
				"Bring the changelog back from a backup, or correct ORIEL_CHANGELOG_TOPIC. An empty one would be refused: "+
					"released decisions belong to a state. Without it, open a new deployment under another ORIEL_NAME; "+
					"its privacy loss adds to the old one's for events that both read",
			), nil
		}
	}
	return nil, nil
}

// missingForGood returns an error if a missing topic makes every take-over impossible, because an event was taken. A
// take-over compares decisions with the state, and continues the order of events at the state's position.
func missingForGood(
	ctx context.Context, client *kafka.Client, c Config, used []role, cluster topics.Cluster,
) (problem, err error) {
	for _, r := range used {
		name := r.topic(&c)
		if _, exists := cluster.Topics[name]; exists || r.without == nil {
			continue
		}
		taken, err := everTaken(ctx, client, cluster.Topics[c.Changelog], cluster.Topics[c.Verdicts])
		if err != nil {
			return nil, err
		}
		if taken {
			return r.without(r, fmt.Sprintf("%s topic %q does not exist, and this deployment has published decisions", r.name, name)), nil
		}
	}
	return nil, nil
}

// lostDecisions explains the loss of a topic of decisions.
func lostDecisions(r role, reason string) error {
	return stop(reason+": its decisions are lost, and without them nothing can be published exactly once",
		fmt.Sprintf("Bring the topic back from a backup, or correct %s. An empty one would be refused, because a take-over "+
			"compares decisions with the state. Without the decisions this deployment is over: open a new one under another "+
			"ORIEL_NAME; its privacy loss adds to the old one's for events that both read", r.setting))
}

// lostOrder explains the loss of the topic that orders the events of a stream.
func lostOrder(r role, reason string) error {
	return stop(reason+": nothing says any more in which order events are to be taken",
		fmt.Sprintf("Bring the topic back from a backup, or correct %s. A new one would be refused: it could put events "+
			"in another order than the one that they were looked at in. Without the order this deployment is over: open a new "+
			"one under another ORIEL_NAME; its privacy loss adds to the old one's for events that both read", r.setting))
}

// everTaken reports whether a deployment has taken an event. Every version with sealed statuses has written a row for
// the event. If the verdict topic is missing or new, a state in the changelog shows it, or a second state after the
// opening's.
func everTaken(ctx context.Context, client *kafka.Client, changelog, verdicts topics.Topic) (bool, error) {
	most := 0 // largest number of states in a deployment that has taken no event
	if verdicts.Name != "" {
		if taken, err := everOpened(ctx, client, verdicts); taken || err != nil {
			return taken, err
		}
		most = 1
	}
	for p := range int32(changelog.Partitions) {
		bounds, err := topics.BoundsOf(ctx, client, changelog.Name, p)
		if err != nil {
			return false, fmt.Errorf("pipeline: bounds of %s partition %d: %w", changelog.Name, p, err)
		}
		written := map[string]int{}
		for r, err := range fetch.Records(ctx, client, changelog, p, bounds.Start, bounds.Stable, false) {
			if err != nil {
				return false, err
			}
			if bytes.Equal(r.Key, state.ManifestKey()) {
				continue
			}
			if written[string(r.Key)]++; written[string(r.Key)] > most {
				return true, nil
			}
		}
	}
	return false, nil
}

// everOpened reports whether a topic has, or had, a record of a deployment; a topic that does not exist never had a
// record.
func everOpened(ctx context.Context, client *kafka.Client, topic topics.Topic) (bool, error) {
	for p := range int32(topic.Partitions) {
		bounds, err := topics.BoundsOf(ctx, client, topic.Name, p)
		if err != nil {
			return false, fmt.Errorf("pipeline: bounds of %s partition %d: %w", topic.Name, p, err)
		}
		if written, err := EverWritten(ctx, client, topic, p, bounds); written || err != nil {
			return written, err
		}
	}
	return false, nil
}

// EverWritten reports whether a partition has a record, committed or not, or had a record that was deleted later.
func EverWritten(
	ctx context.Context, client *kafka.Client, topic topics.Topic, p int32, b topics.Bounds,
) (bool, error) {
	if b.Start > 0 {
		return true, nil
	}
	return fetch.HasRecord(ctx, client, topic, p, b.Start, b.High, true)
}

// missingInput gives the remedy for an input that does not exist. before reports whether this deployment has read it.
func missingInput(topic string, before bool) error {
	reason := fmt.Sprintf("input topic %q does not exist", topic)
	if before {
		return stop(reason+", and this deployment was opened on it",
			"Correct ORIEL_INPUT_TOPIC. If the topic was deleted, do not make it again: its offsets would mean other "+
				"records than those that were taken, and this deployment would refuse it. Open a new deployment under another ORIEL_NAME on a new input")
	}
	return stop(reason, "Create it (`oriel topics --input-partitions N` does), "+
		"or correct ORIEL_INPUT_TOPIC")
}
