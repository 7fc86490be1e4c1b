package pipeline

import (
	"context"
	"fmt"

	"oriel/pipeline/kafka"
)

// absence finds what a missing topic says of a deployment that has worked before: its input is gone, or its state.
// Making either again would only change the message. It is nil where the topics that are missing were never made.
func absence(
	ctx context.Context, client *kafka.Client, c Config, used []role, cluster kafka.Cluster,
) (problem, err error) {
	if _, exists := cluster.Topics[c.Input]; !exists {
		before, err := everOpened(ctx, client, cluster.Topics[c.Changelog])
		if err != nil {
			return nil, err
		}
		return missingInput(c.Input, before), nil
	}
	if _, exists := cluster.Topics[c.Changelog]; exists {
		return nil, nil
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
					"what was released belongs to a state. Without it, open a new deployment under another ORIEL_NAME; "+
					"its privacy loss adds to the old one's for events that both read",
			), nil
		}
	}
	return nil, nil
}

// everOpened tells whether a topic has, or had, a record that a deployment sent; one that does not exist has none.
func everOpened(ctx context.Context, client *kafka.Client, topic kafka.Topic) (bool, error) {
	for p := range int32(topic.Partitions) {
		bounds, err := client.Bounds(ctx, topic.Name, p)
		if err != nil {
			return false, fmt.Errorf("pipeline: bounds of %s partition %d: %w", topic.Name, p, err)
		}
		if written, err := everWritten(ctx, client, topic, p, bounds); written || err != nil {
			return written, err
		}
	}
	return false, nil
}

// everWritten tells whether a partition has a record, committed or not, or had one that was deleted since.
func everWritten(ctx context.Context, client *kafka.Client, topic kafka.Topic, p int32, b kafka.Bounds) (bool, error) {
	if b.Start > 0 {
		return true, nil
	}
	return hasRecord(ctx, client, topic, p, b.Start, b.High, true)
}

// missingInput says what to do about an input that does not exist; before tells that this deployment has read it.
func missingInput(topic string, before bool) error {
	reason := fmt.Sprintf("input topic %q does not exist", topic)
	if before {
		return stop(reason+", and this deployment was opened on it",
			"Correct ORIEL_INPUT_TOPIC. If the topic was deleted, do not make it again: its offsets would mean other "+
				"records than those that were taken, and this deployment would refuse it. Open a new deployment under another ORIEL_NAME on a new input")
	}
	return stop(reason, "Create it, with as many partitions as you want streams (`oriel topics --input-partitions N` does), "+
		"or correct ORIEL_INPUT_TOPIC")
}
