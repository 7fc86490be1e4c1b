package pipeline

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"oriel/pipeline/kafka"
	"oriel/state"
)

// transactionTimeout bounds an open transaction on the broker. A take-over aborts it at once; this is for a deployment
// that nobody takes over.
const transactionTimeout = 60 * time.Second

// transactionalID is static per deployment, input topic and partition, so that a new owner fences the old one.
func transactionalID(name string, input [16]byte, partition int32) string {
	return fmt.Sprintf("%s/%x/%d", name, input, partition)
}

// manifestText is what a manifest holds: the deployment's name before its canonical configuration. The name binds the topics
// to the transactional ids that fence their writers.
func manifestText(c Config, m Model) string { return "NAME=" + c.Name + "\n" + m.Settings }

// WriteManifests gives every changelog partition that has none its manifest record: the configuration and the key that
// hides stream ids. One that exists must say the same configuration. It must not run beside a Service of another
// deployment of the same name; it fences nothing where a manifest stands.
func WriteManifests(ctx context.Context, client *kafka.Client, c Config, topics Topics, model Model, master *state.MasterKey) error {
	text, names := manifestText(c, model), state.NewNameKey()
	for p := range int32(topics.Changelog.Partitions) {
		found, err := findManifest(ctx, client, topics.Changelog, p)
		if err != nil {
			return err
		}
		if found != nil {
			m, err := openManifest(found, p, text, master)
			if err != nil {
				return err
			}
			names = m.NameKey
			continue
		}
		producer, err := client.NewProducer(ctx, transactionalID(c.Name, topics.Input.ID, p), transactionTimeout)
		if err != nil {
			return fmt.Errorf("pipeline: manifest of partition %d: %w", p, err)
		}
		var b kafka.Builder
		b.Append(state.ManifestKey(), state.Manifest{Config: text, NameKey: names}.Seal(master), nil, time.Now().UnixMilli())
		part := kafka.TopicPartition{Topic: c.Changelog, Partition: p}
		if err := errors.Join(
			producer.Begin(ctx, []kafka.TopicPartition{part}),
			second(producer.Produce(ctx, c.Changelog, p, &b)),
			producer.End(ctx, true),
		); err != nil {
			return fmt.Errorf("pipeline: manifest of partition %d: %w", p, err)
		}
	}
	return nil
}

func second(_ int64, err error) error { return err }

// CheckManifests refuses a deployment that was opened with another configuration or another master key.
func CheckManifests(ctx context.Context, client *kafka.Client, c Config, topics Topics, model Model, master *state.MasterKey) error {
	var names state.NameKey
	for p := range int32(topics.Changelog.Partitions) {
		found, err := findManifest(ctx, client, topics.Changelog, p)
		if err != nil {
			return err
		}
		m, err := openManifest(found, p, manifestText(c, model), master)
		if err != nil {
			return err
		}
		if p == 0 {
			names = m.NameKey
		}
		if model.Users.Separation > 0 && m.NameKey != names {
			return &StopError{
				Partition: p, Reason: "its manifest has another name key than partition 0, so that users could not be compared",
				Remedy: "Two `oriel topics` ran at once; open a new deployment under another ORIEL_NAME",
			}
		}
	}
	return nil
}

// findManifest reads from the start of the partition, where the manifest stands: it is written first and compaction keeps
// order. It is nil when the partition has records of other keys only, or none.
func findManifest(ctx context.Context, client *kafka.Client, topic kafka.Topic, p int32) ([]byte, error) {
	bounds, err := client.Bounds(ctx, topic.Name, p)
	if err != nil {
		return nil, fmt.Errorf("pipeline: bounds of %s partition %d: %w", topic.Name, p, err)
	}
	reader := client.NewReader(topic.Name, p, bounds.Start, kafka.ReaderOptions{ID: topic.ID, MaxBytes: 1 << 20, MaxWait: 100 * time.Millisecond})
	for next := bounds.Start; next < bounds.Stable; {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return nil, fmt.Errorf("pipeline: read manifest of partition %d: %w", p, err)
		}
		for _, r := range batch.Records {
			if string(r.Key) == string(state.ManifestKey()) {
				value := append([]byte(nil), r.Value...)
				batch.Release()
				return value, nil
			}
		}
		next = batch.Next
		batch.Release()
	}
	return nil, nil
}

func openManifest(value []byte, p int32, text string, master *state.MasterKey) (state.Manifest, error) {
	if value == nil {
		return state.Manifest{}, &StopError{
			Partition: p, Reason: "the changelog partition has no manifest record",
			Remedy: "Run `oriel topics` with this configuration once before `oriel run`; if it ran before, the changelog was emptied: restore it, or open a new deployment under another ORIEL_NAME",
		}
	}
	m, err := state.OpenManifest(value, master)
	if err != nil {
		return m, unsealing(p, err)
	}
	if m.Config != text {
		return m, &StopError{
			Partition: p, Reason: "the configuration differs from the one that this deployment was opened with: " + "ORIEL_" + strings.Join(state.ConfigDiff(m.Config, text), "; ORIEL_"),
			Remedy: "Put the old values back, or open a new deployment under another ORIEL_NAME with its own topics; its privacy loss adds to the old one's for events that both read",
		}
	}
	return m, nil
}
