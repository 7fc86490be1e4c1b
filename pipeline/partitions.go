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

// Partitions may be added to the input of a running deployment. Where the whole input is one stream, they join it. Else
// each is a stream, and a new one starts its own. Our topics then have fewer for a while. The partitions that they have
// go on; the others wait for `oriel topics`. At user level a partition must not be added: a producer that keys by user
// sends some users elsewhere from then on, and the printed guarantee counts one stream a user.

// notePartitions notes a description of the topics: how many partitions and streams the input has, and up to which
// partition ours have one.
func (s *Service) notePartitions(topics deployment.Topics) {
	s.covered.Store(topics.Covered(s.config))
	streams := s.config.Streams(topics.Input)
	s.streams.Store(int32(streams))
	if input := topics.Input.Partitions; s.inputs.Swap(int32(input)) != int32(input) {
		s.listener.Partitions(input, streams)
	}
}

// awaitTopics waits, parked in everybody's eyes, until our topics have the task's partition and a manifest is in it.
func (t *task) awaitTopics(ctx context.Context) {
	s := t.service
	if t.partition < s.covered.Load() {
		return
	}
	s.listener.State(t.partition, notice.Halted)
	s.listener.Stopped(t.partition, &notice.StopError{
		Partition: t.partition,
		Reason:    "partitions were added to the input, and the topics of this deployment do not have this one",
		Remedy: "Run `oriel topics` with the settings of this deployment: it adds them, and the partition goes on " +
			"without a restart",
	})
	for kafka.Pause(ctx, lookInterval) == nil {
		if t.partition >= s.covered.Load() {
			continue
		}
		manifest, err := changelog.FindRecord(ctx, s.client, s.topics.Changelog, t.partition, state.ManifestKey())
		if manifest != nil || notice.Kind(err) == notice.Stopped {
			return // the take-over finds a stop again, and says it better
		}
	}
}

// staleLooks is how many looks in a row must find a partition free in a group of ours alone before the members join
// again.
const staleLooks = 3

// staleShares counts looks at a group that has a partition left over though nobody else is in it: shares from before
// partitions were added. A leader that joins under its old place is not told that it leads, and shares nothing out
// anew; it does when it joins again. Each time that did not help, it takes twice as many looks.
type staleShares struct{ count, wait int }

// expired tells that the members should join again.
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
