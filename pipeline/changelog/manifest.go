package changelog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/state"
)

// manifestText is the content of a manifest: the deployment's name, then its canonical configuration. The name binds
// the topics to the transactional ids that fence their writers.
func manifestText(c deployment.Config, m streams.Model) string { return nameLine(c) + m.Settings }

func nameLine(c deployment.Config) string { return "NAME=" + c.Name + "\n" }

// WriteManifests writes a manifest record to every changelog partition that has none: the configuration, the input and
// the key that hides stream ids. An existing manifest must be equal. All manifests are read BEFORE the first is
// written. WriteManifests must not run while a Service of another deployment with the same name runs, because it does
// not fence partitions that have a manifest.
func (d Deployment) WriteManifests(ctx context.Context) error {
	if err := d.Model.Validate(); err != nil {
		return err
	}
	found, err := d.readManifests(ctx)
	if err != nil {
		return err
	}
	manifest := state.Manifest{
		Config: manifestText(d.Config, d.Model), Semantics: d.Model.Semantics,
		Input: state.Input{ID: d.Topics.Input.ID, Name: d.Config.Input}, NameKey: state.NewNameKey(),
	}
	for _, m := range found {
		if m != nil {
			manifest.NameKey = m.NameKey
		}
	}
	for p, m := range found {
		if m != nil {
			continue
		}
		if err := d.writeManifest(ctx, int32(p), manifest.Seal(d.Master)); err != nil {
			return fmt.Errorf("pipeline: manifest of partition %d: %w", p, err)
		}
	}
	return nil
}

func (d Deployment) writeManifest(ctx context.Context, p int32, sealed []byte) error {
	id := d.Config.TransactionalID(d.Topics.Input.ID, p)
	producer, err := produce.New(ctx, d.Client, id, deployment.TransactionTimeout)
	if err != nil {
		return err
	}
	to := kafka.TopicPartition{Topic: d.Config.Changelog, Partition: p}
	return WriteRecord(ctx, producer, to, state.ManifestKey(), sealed)
}

// WriteRecord writes one record in a transaction of its own.
func WriteRecord(ctx context.Context, producer *produce.Producer, to kafka.TopicPartition, key, value []byte) error {
	var b records.Builder
	b.Append(key, value, nil, time.Now().UnixMilli())
	return errors.Join(
		producer.Begin(ctx, []kafka.TopicPartition{to}),
		second(producer.Produce(ctx, to.Topic, to.Partition, &b)),
		producer.End(ctx, true),
	)
}

func second(_ int64, err error) error { return err }

// readManifests opens the manifest of each changelog partition; or nil for a partition without manifest. It refuses a
// manifest of another configuration, master key or input.
func (d Deployment) readManifests(ctx context.Context) ([]*state.Manifest, error) {
	found := make([]*state.Manifest, d.Topics.Changelog.Partitions)
	for i := range found {
		p := int32(i)
		value, err := FindRecord(ctx, d.Client, d.Topics.Changelog, p, state.ManifestKey())
		if err != nil {
			return nil, err
		}
		if value == nil {
			continue
		}
		m, err := openManifest(value, p, manifestText(d.Config, d.Model), d.Master)
		if err == nil {
			err = d.checkManifestInput(ctx, p, m)
		}
		if err != nil {
			return nil, err
		}
		found[p] = &m
	}
	return found, nil
}

// OpenedConfig returns the canonical configuration in the first manifest of a deployment, or "" if there is no
// manifest. topic is the deployment's changelog; a topic without partitions does not exist.
func OpenedConfig(
	ctx context.Context, client *kafka.Client, topic topics.Topic, master *state.MasterKey,
) (string, error) {
	for p := range int32(topic.Partitions) {
		value, err := FindRecord(ctx, client, topic, p, state.ManifestKey())
		if err != nil {
			return "", err
		}
		if value == nil {
			continue
		}
		m, err := state.OpenManifest(value, master)
		if err != nil {
			return "", CannotOpen(p, err)
		}
		return m.Config, nil
	}
	return "", nil
}

// checkManifestInput refuses a manifest that was written for another input. The two deployments would have different
// transactional ids, so neither would fence the other. A manifest of the first format names no input; then the
// partition's incarnation names it, if there is an incarnation.
func (d Deployment) checkManifestInput(ctx context.Context, p int32, m state.Manifest) error {
	input, topics := m.Input, d.Topics
	if input == (state.Input{}) {
		key := m.NameKey.Key(state.KindIncarnation, d.Config.StreamName(p))
		record, err := FindRecord(ctx, d.Client, topics.Changelog, p, key)
		if err != nil || record == nil {
			return err
		}
		inc, err := state.OpenIncarnation(record, d.Master)
		if err != nil {
			return CannotOpen(p, err)
		}
		input.ID = inc.Topic
	}
	if input.ID == topics.Input.ID {
		return nil
	}
	e := &notice.StopError{
		Partition: p,
		Reason:    fmt.Sprintf("this deployment belongs to the input topic %q, not to %q", input.Name, topics.Input.Name),
		Remedy:    "Set ORIEL_INPUT_TOPIC to it, or give this input a deployment of its own, under another ORIEL_NAME with its own topics",
	}
	if input.Name == topics.Input.Name || input.Name == "" {
		e.Remedy = "Its offsets mean other records than those that were taken: open a new deployment under another ORIEL_NAME with its own topics"
	}
	switch input.Name {
	case topics.Input.Name:
		e.Reason = fmt.Sprintf("the input topic %q was deleted and made again since this deployment was opened", input.Name)
	case "":
		e.Reason = fmt.Sprintf("this deployment belongs to another input topic than %q, or to one of this name that was deleted and made again", topics.Input.Name)
	}
	return e
}

// CheckManifests refuses a deployment that was opened with another configuration, master key or input.
func (d Deployment) CheckManifests(ctx context.Context) error {
	found, err := d.readManifests(ctx)
	if err != nil {
		return err
	}
	for i, m := range found {
		if m == nil {
			return missingManifest(int32(i))
		}
		if d.Model.Users != nil && m.NameKey != found[0].NameKey {
			return &notice.StopError{
				Partition: int32(i), Reason: "its manifest has another name key than partition 0, so that users could not be compared",
				Remedy: "Two `oriel topics` ran at once; open a new deployment under another ORIEL_NAME",
			}
		}
	}
	return nil
}

// FindRecord returns the first record of a key, or nil. Manifest and incarnation are the first records of a partition:
// they are written once, in this order, before all other records, and compaction keeps the order. A transaction that
// another process has just committed may not be readable yet; FindRecord waits for it.
func FindRecord(ctx context.Context, client *kafka.Client, topic topics.Topic, p int32, key []byte) ([]byte, error) {
	bounds, err := topics.BoundsOf(ctx, client, topic.Name, p)
	if err != nil {
		return nil, fmt.Errorf("pipeline: bounds of %s partition %d: %w", topic.Name, p, err)
	}
	value, err := findWithin(ctx, client, topic, p, key, bounds)
	if err != nil || value != nil || bounds.Stable == bounds.High {
		return value, err
	}
	if bounds, err = topics.ReadableEnd(ctx, client, topic.Name, p); err != nil {
		return nil, fmt.Errorf("pipeline: readable end of %s partition %d: %w", topic.Name, p, err)
	}
	return findWithin(ctx, client, topic, p, key, bounds)
}

// findWithin returns the first committed record of a key between two offsets.
func findWithin(
	ctx context.Context, client *kafka.Client, topic topics.Topic, p int32, key []byte, within topics.Bounds,
) ([]byte, error) {
	for r, err := range fetch.Records(ctx, client, topic, p, within.Start, within.Stable, false) {
		if err != nil {
			return nil, err
		}
		if bytes.Equal(r.Key, key) {
			return bytes.Clone(r.Value), nil
		}
	}
	return nil, nil
}

func missingManifest(p int32) error {
	return &notice.StopError{
		Partition: p, Loss: true, Reason: "the changelog partition has no manifest record",
		Remedy: "Run `oriel topics` with this configuration once before `oriel run`; if it ran before, the changelog was emptied: restore it, or open a new deployment under another ORIEL_NAME",
	}
}

func openManifest(value []byte, p int32, text string, master *state.MasterKey) (state.Manifest, error) {
	if value == nil {
		return state.Manifest{}, missingManifest(p)
	}
	m, err := state.OpenManifest(value, master)
	if err != nil {
		return m, CannotOpen(p, err)
	}
	if m.Config != text {
		return m, &notice.StopError{
			Partition: p, Reason: "the configuration differs from the one that this deployment was opened with: " + "ORIEL_" + strings.Join(state.ConfigDiff(m.Config, text), "; ORIEL_"),
			Remedy: "Put the old values back, or open a new deployment under another ORIEL_NAME with its own topics; its privacy loss adds to the old one's for events that both read",
		}
	}
	return m, nil
}
