package changelog

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/state"
)

// Lasting returns a StopError if the stream of a view was ended for good.
func (view *View) Lasting(p int32) error {
	if view.Value(state.EndedKey()) == nil {
		return nil
	}
	return &notice.StopError{
		Partition: p, Reason: "this deployment was ended for good by `oriel end`",
		Remedy: "Open a new deployment under another ORIEL_NAME. `oriel end` prints again where this one stopped, for ORIEL_START of the new one",
	}
}

// End ends a deployment for good, and returns the offset of each partition of the input up to which it has used the
// records. Afterwards no process can commit anything, and none can start. End needs neither the master key nor a topic
// other than the input and one of decisions or changelog, because a deployment may have lost the others.
//
// For each stream, End first fences every earlier producer, and then reads the offsets. The fencing producer writes the
// record that ends the stream, with these offsets. If another owner has taken over in between, the write fails. So the
// offsets are the last ones. If End dies before a record is committed, the stream goes on. Otherwise the stream has
// ended, and a repeated call returns the same offsets.
//
// If a stream has sent decisions that its offsets do not cover, readers of uncommitted records may have seen them. Then
// End fails with a StopError, and does not end the stream. With skip it ends the stream at the end of the input.
func (d Deployment) End(ctx context.Context, skip bool) (deployment.Offsets, error) {
	if len(d.Topics.TransactionParts(0)) == 0 {
		return nil, d.Config.Missing(d.Config.Changelog)
	}
	all := deployment.Offsets{}
	for p := range int32(d.Config.Streams(d.Topics.Input)) {
		ended, err := d.endStream(ctx, p, skip)
		for tries := 1; tries < mostTries && kafka.Classify(err) == kafka.Fenced; tries++ {
			ended, err = d.endStream(ctx, p, skip)
		}
		if err != nil {
			return nil, fmt.Errorf("pipeline: end of partition %d: %w", p, err)
		}
		maps.Copy(all, ended)
	}
	return all, nil
}

// mostTries bounds how often End takes a stream from a process at work that takes it back each time.
const mostTries = 10

// endStream is End for the stream of partition p. It returns the offsets of the partitions that the stream reads.
func (d Deployment) endStream(ctx context.Context, p int32, skip bool) (deployment.Offsets, error) {
	if len(d.Topics.TransactionParts(p)) == 0 { // the partition was added to the input, and has no stream yet
		return d.used(ctx, p, skip)
	}
	producer, err := d.settle(ctx, p)
	if err != nil {
		return nil, err
	}
	if int(p) >= d.Topics.Changelog.Partitions { // the changelog is lost, and no process starts without it
		return d.used(ctx, p, skip)
	}
	view, err := d.View(ctx, p)
	if err != nil {
		return nil, err
	}
	if ended := view.Value(state.EndedKey()); ended != nil {
		return deployment.ParseOffsets(ended, d.Config.Input)
	}
	offsets, err := d.used(ctx, p, skip)
	if err != nil {
		return nil, err
	}
	to := kafka.TopicPartition{Topic: d.Topics.Changelog.Name, Partition: p}
	return offsets, WriteRecord(ctx, producer, to, state.EndedKey(), offsets.Append(nil, d.Config.Input))
}

// used returns the offsets up to which a stream has used its input. It must be called AFTER earlier owners are fenced.
func (d Deployment) used(ctx context.Context, p int32, skip bool) (deployment.Offsets, error) {
	inputs := d.Topics.Read(d.Config, p)
	committed, err := group.CommittedOffsets(ctx, d.Client, d.Config.Group, d.Config.Input, inputs)
	if err != nil {
		return nil, err
	}
	bounds, err := topics.BoundsOfAll(ctx, d.Client, d.Topics.Input, inputs)
	if err != nil {
		return nil, fmt.Errorf("bounds of the input: %w", err)
	}
	used, opened := deployment.Offsets{}, false
	for i, o := range committed {
		used[o.Partition] = bounds[i].Start // nothing was taken if the group has no offset
		if o.Offset >= 0 {
			used[o.Partition], opened = o.Offset, true
		}
	}
	covered, err := d.covered(ctx, p, used, opened)
	switch {
	case err != nil:
		return nil, err
	case covered:
		return used, nil
	case !skip:
		return nil, &notice.StopError{
			Partition: p, Reason: "the group's offsets do not cover every decision that was sent: readers may have seen decisions of later records",
			Remedy: "Start `oriel run` again, wait until it has caught up, stop it with SIGTERM, and run `oriel end` again. If it cannot start, " +
				"`oriel end --skip` names the end of the input instead: the records before it that were not committed are then used by no deployment",
		}
	}
	for i, p := range inputs {
		used[p] = max(used[p], bounds[i].High)
	}
	return used, nil
}

// covered reports whether the offsets of a stream cover everything that its owners have sent: the last decisions are
// committed, and the last row of statuses ends at the offsets or before. A transaction sends its decisions before its
// rows. opened says that the group has an offset, as every stream that was opened.
func (d Deployment) covered(ctx context.Context, p int32, used deployment.Offsets, opened bool) (bool, error) {
	for _, topic := range d.Topics.Outputs() {
		last, committed, err := d.lastRecord(ctx, topic, p)
		if err != nil || !committed || last != nil && !opened {
			return false, err
		}
	}
	last, _, err := d.lastRecord(ctx, d.Topics.Verdicts, p)
	if err != nil {
		return false, err
	}
	row, err := state.PublicRow(last)
	if err != nil {
		return true, nil //nolint:nilerr // no row was sent
	}
	if row.Stretches == nil {
		row.Stretches = []state.Stretch{{Partition: p, To: row.To}}
	}
	return !slices.ContainsFunc(row.Stretches, func(s state.Stretch) bool { return s.To > used[s.Partition] }), nil
}

// lastRecord returns the value of the last record that was sent to a partition, and whether this record is committed.
// If there is none, or no partition, it returns nil and true.
func (d Deployment) lastRecord(
	ctx context.Context, topic topics.Topic, p int32,
) (value []byte, committed bool, err error) {
	if int(p) >= topic.Partitions {
		return nil, true, nil
	}
	b, err := topics.StableEnd(ctx, d.Client, topic.Name, p)
	if err != nil {
		return nil, false, err
	}
	for from := range fetch.Backwards(b.Start, b.High) {
		last := int64(-1)
		for r, err := range fetch.Records(ctx, d.Client, topic, p, from, b.High, true) {
			if err != nil {
				return nil, false, err
			}
			last, value = r.Offset, bytes.Clone(r.Value)
		}
		if last >= 0 {
			committed, err = fetch.HasRecord(ctx, d.Client, topic, p, last, b.High, false)
			return value, committed, err
		}
	}
	return nil, true, nil
}
