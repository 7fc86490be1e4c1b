package changelog

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
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
	"oriel/state/keys"
)

// wantedManifest returns the settings of a manifest: the deployment's name, then its canonical configuration. The name
// binds the topics to the transactional ids that fence their writers.
func wantedManifest(c deployment.Config, m streams.Model) state.Manifest {
	return state.Manifest{Config: nameLine(c) + m.Settings, Texts: m.Texts, Semantics: m.Semantics}
}

func nameLine(c deployment.Config) string { return "NAME=" + c.Name + "\n" }

// WriteManifests writes a manifest record to every changelog partition that has none: the configuration, the input and
// the key that hides stream ids. An existing manifest must be equal, or be of a stream that was never opened: then
// WriteManifests replaces it (fenceUnopened). All manifests are read, and all streams are checked, BEFORE the first is
// written. WriteManifests must not run while a Service of another deployment with the same name runs, because it does
// not fence partitions that keep their manifest.
func (d Deployment) WriteManifests(ctx context.Context) error {
	if err := d.Model.Validate(); err != nil {
		return err
	}
	found, err := d.readManifests(ctx, d.replaceable)
	if err != nil {
		return err
	}
	if len(found) > 0 && found[0] != nil && slices.Contains(found, nil) { // partitions were added
		view, err := d.View(ctx, 0)
		if err == nil {
			err = view.Lasting(0) // a deployment that has ended gets no new streams
		}
		if err != nil {
			return err
		}
	}
	manifest := wantedManifest(d.Config, d.Model)
	manifest.Input = state.Input{ID: d.Topics.Input.ID, Name: d.Config.Input}
	manifest.NameKey = keys.NewNameKey()
	for _, m := range found {
		if m != nil {
			manifest.NameKey = m.NameKey
		}
	}
	for p, m := range found {
		if m != nil && m.Config != manifest.Config {
			if err := d.checkUnopened(ctx, int32(p), *m); err != nil {
				return err
			}
		}
	}
	producers := make([]*produce.Producer, len(found)) // nil: the partition keeps its manifest
	for i, m := range found {
		p := int32(i)
		switch {
		case m == nil:
			producers[p], err = produce.New(
				ctx, d.Client, d.Config.TransactionalID(d.Topics.Input.ID, p), deployment.TransactionTimeout,
			)
		case m.Config != manifest.Config:
			producers[p], err = d.fenceUnopened(ctx, p, *m)
		}
		if err != nil {
			return fmt.Errorf("pipeline: manifest of partition %d: %w", p, err)
		}
	}
	for i, producer := range producers {
		if producer == nil {
			continue
		}
		to := kafka.TopicPartition{Topic: d.Config.Changelog, Partition: int32(i)}
		if err := WriteRecord(ctx, producer, to, state.ManifestKey(), manifest.Seal(d.Master)); err != nil {
			return fmt.Errorf("pipeline: manifest of partition %d: %w", i, err)
		}
	}
	return nil
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
// manifest of another master key or input, and one that check refuses.
func (d Deployment) readManifests(
	ctx context.Context, check func(p int32, m state.Manifest) error,
) ([]*state.Manifest, error) {
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
		m, err := state.OpenManifest(value, d.Master)
		if err != nil {
			return nil, CannotOpen(p, err)
		}
		if err = check(p, m); err == nil {
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
	ctx context.Context, client *kafka.Client, topic topics.Topic, master *keys.MasterKey,
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
// transactional ids, so neither would fence the other.
func (d Deployment) checkManifestInput(ctx context.Context, p int32, m state.Manifest) error {
	input, topics := m.Input, d.Topics
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
	found, err := d.readManifests(ctx, d.sameConfig)
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

// FindRecord returns the record of a key among the first records of a partition, or nil. The manifest and the
// incarnation are written in this order before all other records but frozen schemas, and compaction keeps the order.
// Of several manifests the last one counts. A transaction that another process has just committed may not be readable
// yet; FindRecord waits for it.
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
	replaceable := bytes.Equal(key, state.ManifestKey())
	var value, other []byte // other: key of the first record after the manifest, which may be frozen schemas
	for r, err := range fetch.Records(ctx, client, topic, p, within.Start, within.Stable, false) {
		switch {
		case err != nil:
			return nil, err
		case bytes.Equal(r.Key, key):
			value = bytes.Clone(r.Value)
			if !replaceable {
				return value, nil
			}
		case value == nil, bytes.Equal(r.Key, other):
		case other != nil:
			return value, nil // a stream with records of two further keys is open, and keeps its manifest
		default:
			other = bytes.Clone(r.Key)
		}
	}
	return value, nil
}

func missingManifest(p int32) error {
	return &notice.StopError{
		Partition: p, Loss: true, Reason: "the changelog partition has no manifest record",
		Remedy: "Run `oriel topics` with this configuration once before `oriel run`; if it ran before, the changelog was emptied: restore it, or open a new deployment under another ORIEL_NAME",
	}
}

// openManifest opens a manifest, which must be that of this configuration and master key.
func (d Deployment) openManifest(value []byte, p int32) (state.Manifest, error) {
	if value == nil {
		return state.Manifest{}, missingManifest(p)
	}
	m, err := state.OpenManifest(value, d.Master)
	if err != nil {
		return m, CannotOpen(p, err)
	}
	return m, d.sameConfig(p, m)
}

// sameConfig refuses a manifest of another configuration.
func (d Deployment) sameConfig(p int32, m state.Manifest) error {
	diff := state.ConfigDiff(m, wantedManifest(d.Config, d.Model))
	if diff == nil {
		return nil
	}
	remedy := otherName + lossAdds
	if !d.changesForLife(m) {
		remedy += ". If no `oriel run` has opened a stream yet, `oriel topics` takes the new values"
	}
	return &notice.StopError{
		Partition: p, Remedy: remedy,
		Reason: "the configuration differs from the one that this deployment was opened with: ORIEL_" + strings.Join(diff, "; ORIEL_"),
	}
}

// Parts of the remedy for another configuration.
const (
	otherName = "Put the old values back, or open a new deployment under another ORIEL_NAME with its own topics"
	lossAdds  = "; its privacy loss adds to the old one's for events that both read"
)
