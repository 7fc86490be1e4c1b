package kafka

import (
	"context"
	"fmt"
	"strings"
	"sync"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/metadata"

	"oriel/pipeline/kafka/wire"
)

// leaders remembers the newest leader epoch that was heard of for each partition, from cluster layouts and from
// batches. A layout that is behind comes from a broker that has not heard of a change: what it calls the leader may be
// the one before.
type leaders struct {
	doubt Doubt // that has heard of nothing
	mu    sync.Mutex
	known map[TopicPartition]*knownEpoch
}

type knownEpoch struct {
	epoch int32
	stale Doubt // that layouts say an older epoch: the topic was made again, or the whole cluster put back
}

// note notes an epoch that a partition's log has.
func (l *leaders) note(p TopicPartition, epoch int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.at(p); epoch > k.epoch {
		*k = knownEpoch{epoch: epoch, stale: l.doubt}
	}
}

// take compares the epoch of a layout with what is known. One that stays behind is taken all the same in the end: what
// is lost then is for others to find, by offsets, epochs and topic ids.
func (l *leaders) take(p TopicPartition, epoch int32) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch k := l.at(p); {
	case epoch >= k.epoch:
		*k = knownEpoch{epoch: epoch, stale: l.doubt}
	case k.stale.Over():
		*k = knownEpoch{epoch: epoch, stale: l.doubt}
	default:
		return kafkago.UnknownLeaderEpoch
	}
	return nil
}

func (l *leaders) at(p TopicPartition) *knownEpoch {
	if l.known == nil {
		l.known = map[TopicPartition]*knownEpoch{}
	}
	if l.known[p] == nil {
		l.known[p] = &knownEpoch{epoch: -1, stale: l.doubt}
	}
	return l.known[p]
}

// LeaderEpoch is the epoch under which the partition has its leader, as the layout says by which requests are routed. A
// broker that is asked under it refuses if it knows an older one, as a leader does that was replaced without having
// heard of it, or a newer one: both codes are transient, and make the layout be looked up again.
func (c *Client) LeaderEpoch(ctx context.Context, topic string, partition int32) (int32, error) {
	// from the layout; nothing is sent
	answer, err := c.RoundTrip(ctx, AttemptTimeout, &metadata.Request{TopicNames: []string{topic}})
	if err != nil {
		return -1, err
	}
	layout, ok := answer.(*metadata.Response)
	if !ok || len(layout.Topics) != 1 {
		return -1, wire.ErrShort
	}
	for _, p := range layout.Topics[0].Partitions {
		if p.PartitionIndex == partition {
			return p.LeaderEpoch, c.leaders.take(TopicPartition{Topic: topic, Partition: partition}, p.LeaderEpoch)
		}
	}
	return -1, kafkago.UnknownTopicOrPartition
}

// NoteEpoch notes an epoch that a partition's log has, so that no layout is followed that is behind it.
func (c *Client) NoteEpoch(p TopicPartition, epoch int32) { c.leaders.note(p, epoch) }

// PartitionOf is where Kafka's default partitioner (murmur2) puts a key.
func PartitionOf(key []byte, partitions int) int32 {
	all := make([]int, partitions)
	for i := range all {
		all[i] = i
	}
	return int32(kafkago.Murmur2Balancer{}.Balance(kafkago.Message{Key: key}, all...))
}

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// PartitionName names a partition in errors.
func PartitionName(topic string, partition int32) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%d", topic, partition)
	return b.String()
}
