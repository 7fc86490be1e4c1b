package kafka

import (
	"context"
	"strconv"
	"sync"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol/metadata"

	"oriel/pipeline/kafka/wire"
)

// leaders remembers the newest known leader epoch of each partition, from cluster layouts and from record batches. A
// layout with an older epoch comes from a broker that missed a change: the leader that it names may be replaced
// already.
type leaders struct {
	doubt Doubt // initial value of knownEpoch.stale
	mu    sync.Mutex
	known map[TopicPartition]*knownEpoch
}

type knownEpoch struct {
	epoch int32
	stale Doubt // over once layouts name an older epoch for long: the topic was recreated, or the cluster restored
}

// note records a leader epoch that occurs in a partition's log.
func (l *leaders) note(p TopicPartition, epoch int32) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.at(p); epoch > k.epoch {
		*k = knownEpoch{epoch: epoch, stale: l.doubt}
	}
}

// take accepts the epoch of a layout, or returns a transient error if it is older than the newest known epoch. After a
// while it accepts an older epoch too; then Readers find by offsets, epochs and topic ids whether records were lost.
func (l *leaders) take(p TopicPartition, epoch int32) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k := l.at(p); epoch >= k.epoch || k.stale.Over() {
		*k = knownEpoch{epoch: epoch, stale: l.doubt}
		return nil
	}
	return kafkago.UnknownLeaderEpoch
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

// LeaderEpoch returns the partition's leader epoch in the cached layout, by which requests are routed. A broker refuses
// a request with this epoch if it knows an older one, for example because it was replaced, or a newer one. Both codes
// are transient and make the client refresh the layout.
func (c *Client) LeaderEpoch(ctx context.Context, topic string, partition int32) (int32, error) {
	// kafka-go answers this request from its cached layout.
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

// NoteEpoch records a leader epoch that occurs in a partition's log, so that layouts with an older epoch are not
// followed.
func (c *Client) NoteEpoch(p TopicPartition, epoch int32) { c.leaders.note(p, epoch) }

// PartitionOf returns the partition that Kafka's default partitioner (murmur2) chooses for a key.
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
	return topic + "/" + strconv.Itoa(int(partition))
}
