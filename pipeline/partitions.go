package pipeline

import (
	"context"

	"oriel/pipeline/changelog"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/notice"
	"oriel/state"
)

// Partitions may be added to the input of a running deployment. If the whole input is one stream, they join this
// stream. Otherwise each partition is a stream, and a new partition starts a new stream. Then the output topics have
// fewer partitions for a while: streams with a partition there continue, and the others wait for `oriel topics`. At
// user level a partition must not be added: because a producer that keys by user would then send some users to other
// partitions, but the printed guarantee assumes one stream for each user.

// notePartitions records how many partitions and streams the input has, and for how many of the streams all output
// topics have a partition.
func (s *Service) notePartitions(topics deployment.Topics) {
	s.covered.Store(topics.Covered(s.config))
	streams := s.config.Streams(topics.Input)
	s.streams.Store(int32(streams))
	if input := topics.Input.Partitions; s.inputs.Swap(int32(input)) != int32(input) {
		s.listener.Partitions(input, streams)
	}
}

// awaitTopics waits until the output topics have the task's partition and the partition has a manifest. While it waits,
// the partition is reported as stopped.
func (t *task) awaitTopics(ctx context.Context) {
	s := t.service
	if t.partition < s.covered.Load() {
		return
	}
	s.listener.State(t.partition, notice.Halted)
	s.listener.Stopped(t.partition, uncovered(t.partition))
	for kafka.Pause(ctx, lookInterval) == nil {
		if t.partition >= s.covered.Load() {
			continue
		}
		manifest, err := changelog.FindRecord(ctx, s.client, s.topics.Changelog, t.partition, state.ManifestKey())
		if manifest != nil || notice.Kind(err) == notice.Stopped {
			return // the take-over meets the same error and describes it better
		}
	}
}

// uncovered returns the error of a partition of the input that the output topics lack.
func uncovered(partition int32) error {
	return &notice.StopError{
		Partition: partition,
		Reason:    "partitions were added to the input, and the topics of this deployment do not have this one",
		Remedy: "Run `oriel topics` with the settings of this deployment: it adds them, and the partition goes on " +
			"without a restart",
	}
}

// staleLooks is the number of consecutive checks that must find an unassigned partition, in a group of our members
// only, before the members join again.
const staleLooks = 3

// staleShares counts checks that find a partition unassigned although the group has no foreign member. In this case the
// assignments are older than the added partitions: the coordinator does not tell a leader that rejoins with its static
// id that it is the leader, so it makes no new assignments. Another join makes it assign. Each join without effect
// doubles the number of checks before the next.
type staleShares struct{ count, wait int }

// expired reports whether the members should join again.
func (i *staleShares) expired(c group.Members) bool {
	if len(c.Free) == 0 || len(c.Foreign) > 0 || c.Gone {
		*i = staleShares{}
		return false
	}
	i.wait = max(i.wait, staleLooks)
	if i.count++; i.count < i.wait {
		return false
	}
	i.count, i.wait = 0, min(2*i.wait, 1000*staleLooks)
	return true
}
