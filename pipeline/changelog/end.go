package changelog

import (
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
	"oriel/schemas/decision"
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
	for {
		all, streams := deployment.Offsets{}, d.Config.Streams(d.Topics.Input)
		if has := slices.Max(partitionsOf(d.Topics)[1:]); has > streams {
			return nil, &notice.StopError{
				Partition: -1, Reason: fmt.Sprintf("the topics of the deployment have %d partitions, and its settings say that it has %d streams", has, streams),
				Remedy: "Set ORIEL_INPUT_TOPIC and ORIEL_STREAM to the deployment's own values: otherwise the other streams would go on",
			}
		}
		for p := range int32(streams) {
			ended, err := d.endStream(ctx, p, skip)
			for tries := 1; tries < mostTries && kafka.Classify(err) == kafka.Fenced; tries++ {
				ended, err = d.endStream(ctx, p, skip)
			}
			if err != nil {
				return nil, fmt.Errorf("pipeline: end of partition %d: %w", p, err)
			}
			maps.Copy(all, ended)
		}
		// Streams may have been added in between. Now that the first stream has ended, no more are added.
		now, err := deployment.DescribeTopics(ctx, d.Client, d.Config)
		if err != nil || slices.Equal(partitionsOf(now), partitionsOf(d.Topics)) {
			return all, err
		}
		d.Topics = now
	}
}

// partitionsOf counts the partitions of the topics that show how many streams there are, the input first.
func partitionsOf(t deployment.Topics) []int {
	return []int{t.Input.Partitions, t.Decisions.Partitions, t.Verdicts.Partitions, t.Changelog.Partitions}
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
	used := deployment.Offsets{}
	for i, o := range committed {
		used[o.Partition] = bounds[i].Start // nothing was taken if the group has no offset
		if o.Offset >= 0 {
			used[o.Partition] = o.Offset
		}
	}
	covered, known, err := d.covered(ctx, p, used)
	atEnd := true // the stream has used all records that there are, so it does not matter what it has sent
	for i, p := range inputs {
		atEnd = atEnd && used[p] >= bounds[i].High
	}
	switch {
	case err != nil:
		return nil, err
	case covered && (known || atEnd):
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

// covered reports whether the offsets of a stream cover everything that its owners have sent, as far as the topics show
// it. The last decisions must be committed, and no owner may have sent a later one: a transaction that was aborted as a
// whole may have reached further than the one that took its place. All rows of statuses must end at the offsets or
// before. A transaction sends its decisions before its rows, so that either may show how far it reached. known is false
// if a topic that would show more is lost, or its records were deleted.
func (d Deployment) covered(
	ctx context.Context, p int32, used deployment.Offsets,
) (covered, known bool, err error) {
	if len(d.Topics.TransactionParts(p)) == 0 {
		return true, true, nil // no stream
	}
	outputs := []topics.Topic{d.Topics.Decisions}
	if d.Config.Second != "" {
		outputs = append(outputs, d.Topics.Second)
	}
	decided, known := false, true
	for _, topic := range outputs {
		last, most := uint64(0), uint64(0)
		found, err := d.sent(ctx, topic, p, func(value []byte) bool {
			sent, err := decision.Parse(value)
			last, most = sent.Index, max(most, sent.Index)
			return err == nil
		})
		if err != nil || found.any && (!found.committed || !found.valid || last < most) {
			return false, known, err
		}
		decided, known = decided || found.any, known && found.known
	}
	within := true
	rows, err := d.sent(ctx, d.Topics.Verdicts, p, func(value []byte) bool {
		row, err := state.PublicRow(value)
		if row.Stretches == nil && row.From.Next < row.To.Next {
			row.Stretches = []state.Stretch{{Partition: p, To: row.To.Next}}
		}
		within = within && !slices.ContainsFunc(row.Stretches, func(s state.Stretch) bool { return s.To > used[s.Partition] })
		return err == nil
	})
	return within && rows.valid, known && (rows.any || !decided && rows.known), err
}

// sentRecords describes the records that were sent to a partition, committed or not.
type sentRecords struct {
	any       bool // there is one
	committed bool // the last one is committed
	valid     bool // all are what they should be
	known     bool // there is one, or there never was one
}

// sent reads all records that were sent to a partition. each reports whether a value is what it should be.
func (d Deployment) sent(
	ctx context.Context, topic topics.Topic, p int32, each func(value []byte) bool,
) (found sentRecords, err error) {
	found.valid = true
	if int(p) >= topic.Partitions { // `oriel topics` was interrupted, or the topic is lost
		found.known = topic.Name != ""
		return found, nil
	}
	b, err := topics.StableEnd(ctx, d.Client, topic.Name, p)
	if err != nil {
		return found, err
	}
	last := int64(0)
	for r, err := range fetch.Records(ctx, d.Client, topic, p, b.Start, b.High, true) {
		if err != nil {
			return found, err
		}
		last, found.any, found.valid = r.Offset, true, each(r.Value) && found.valid
	}
	found.known = found.any || b.Start == 0
	if found.any {
		found.committed, err = fetch.HasRecord(ctx, d.Client, topic, p, last, b.High, false)
	}
	return found, err
}
