package changelog

import (
	"context"
	"fmt"

	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/state"
)

// CheckStreams refuses settings that differ from those the deployment was opened with. It also refuses a new deployment
// whose input has several partitions if its settings do not choose between one stream and several. It must be called
// BEFORE topics are made, because partitions added for wrong streams cannot be removed. It does not use d.Topics. If
// the input does not exist, it assumes the given number of partitions.
func (d Deployment) CheckStreams(ctx context.Context, partitions int) error {
	c := d.Config
	cluster, err := topics.Describe(ctx, d.Client, c.Input, c.Changelog)
	if err != nil {
		return fmt.Errorf("pipeline: describe topics: %w", err)
	}
	changelog, opened := cluster.Topics[c.Changelog], false
	for p := range int32(changelog.Partitions) {
		value, err := FindRecord(ctx, d.Client, changelog, p, state.ManifestKey())
		if err == nil && value != nil {
			opened = true
			var m state.Manifest
			if m, err = state.OpenManifest(value, d.Master); err == nil {
				err = d.replaceable(p, m) // WriteManifests refuses other changes of an opened stream
			} else {
				err = CannotOpen(p, err)
			}
		}
		if err != nil {
			return err
		}
	}
	if input, exists := cluster.Topics[c.Input]; exists {
		partitions = input.Partitions
	}
	if opened || !c.Undecided || partitions <= 1 {
		return nil
	}
	return &notice.StopError{
		Partition: -1,
		Reason:    fmt.Sprintf("ORIEL_STREAM is not set, and the input topic %q has %d partitions", c.Input, partitions),
		Remedy: fmt.Sprintf("Set ORIEL_STREAM=topic for one stream of them all: one guarantee, and one model that learns from every "+
			"event. Set ORIEL_STREAM=partition for %d streams, each of which learns from its own partition alone: for independent "+
			"models on purpose, or for more events than one machine takes. A deployment keeps its choice", partitions),
	}
}
