package topics

import (
	"cmp"
	"context"
	"encoding/binary"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/wire"
)

// metadataVersion is the first version with topic ids (Kafka 2.8). kafka-go itself sends version 8.
const metadataVersion = 10

// Topic is a topic's identity and shape.
type Topic struct {
	Name        string
	ID          [16]byte // id until the topic's deletion; a recreated topic has another id
	Partitions  int
	Replication int // smallest number of replicas among its partitions
}

// Cluster describes a cluster.
type Cluster struct {
	ID      string
	Brokers int
	Topics  map[string]Topic // by name, without topics that do not exist

	leaders map[string][]leader // leaders of each topic's partitions
}

// leader is the broker that leads a partition, and its leader epoch. Without a leader, broker is −1.
type leader struct{ broker, epoch int32 }

// Describe looks up the named topics, without any cache. The result lacks topics that do not exist, and may lack a
// topic that was just created.
func Describe(ctx context.Context, c *kafka.Client, names ...string) (Cluster, error) {
	var cluster Cluster
	err := c.Retry(ctx, "describe topics", func(ctx context.Context) error {
		if err := c.CheckVersion(ctx, protocol.Metadata, metadataVersion); err != nil {
			return err
		}
		call, parsed := describe(c, names)
		if _, err := c.RoundTrip(ctx, kafka.AttemptTimeout, call); err != nil {
			return err
		}
		if parsed.failed != nil {
			return parsed.failed
		}
		cluster = parsed.Cluster
		return nil
	})
	return cluster, err
}

// Find returns a topic, or an error if the topic does not exist. Commands must call it first, because other
// requests about a missing topic are tried again for ever.
func Find(ctx context.Context, c *kafka.Client, name string) (Topic, error) {
	cluster, err := Describe(ctx, c, name)
	if err != nil {
		return Topic{}, err
	}
	topic, ok := cluster.Topics[name]
	if !ok {
		return topic, fmt.Errorf("topic %q does not exist", name)
	}
	return topic, nil
}

// same returns an error if the topic's name belongs to no topic, or to a topic with another id.
func (t Topic) same(cluster Cluster) error {
	switch found, ok := cluster.Topics[t.Name]; {
	case !ok:
		return fmt.Errorf("%w: id %x is gone", kafka.ErrTopicRecreated, t.ID)
	case found.ID != t.ID:
		return fmt.Errorf("%w: id %x, was %x", kafka.ErrTopicRecreated, found.ID, t.ID)
	}
	return nil
}

// confirm asks a broker whether the topic's name still belongs to the topic. It follows a request that gives the name
// and not the id.
func (t Topic) confirm(ctx context.Context, c *kafka.Client, broker int32) (Cluster, error) {
	call, described := describe(c, []string{t.Name})
	if _, err := c.RoundTrip(ctx, kafka.AttemptTimeout, &kafka.BrokerCall{Call: *call, Node: broker}); err != nil {
		return Cluster{}, err
	}
	return described.Cluster, cmp.Or(described.failed, t.same(described.Cluster))
}

// described is a parsed Metadata answer.
type described struct {
	Cluster
	failed error // first error of a topic that exists but could not be described
}

// describe returns a Metadata request, and a value that receives the parsed answer.
func describe(c *kafka.Client, names []string) (*kafka.Call, *described) {
	body := binary.AppendUvarint(nil, uint64(len(names))+1)
	for _, name := range names {
		body = append(body, make([]byte, 16)...) // id zero: topics are named
		body = wire.AppendCompactString(body, name)
		body = append(body, 0)
	}
	body = append(body, 0, 0, 0, 0) // create no topics; no authorised operations of cluster and topics; no tags
	call, answer := c.NewCall(protocol.Metadata, metadataVersion, true, body), new(described)
	call.Complete(func(r *wire.Reader) { answer.Cluster, answer.failed = parseMetadata(r) })
	return &call, answer
}

// parseMetadata reads a Metadata answer of metadataVersion. It returns the first error of a topic that exists but could
// not be described.
func parseMetadata(r *wire.Reader) (Cluster, error) {
	var failed error
	fail := func(what string, code int16) {
		if failed == nil && code != 0 {
			failed = fmt.Errorf("%s: %w", what, kafka.CodeError(code))
		}
	}
	cluster := Cluster{Topics: map[string]Topic{}, leaders: map[string][]leader{}}
	r.Int32() // throttle time
	for n := r.CompactArray(12); n > 0; n-- {
		r.Int32()
		r.CompactText()
		r.Int32()
		r.CompactText()
		r.Tags()
		cluster.Brokers++
	}
	cluster.ID = r.CompactText()
	r.Int32() // controller id
	for n := r.CompactArray(25); n > 0; n-- {
		code := r.Int16()
		topic := Topic{Name: r.CompactText()}
		copy(topic.ID[:], r.Take(16))
		r.Int8() // whether the topic is internal
		topic.Partitions = r.CompactArray(20)
		leaders := make([]leader, topic.Partitions)
		for i := range leaders {
			leaders[i].broker = -1
		}
		for p := range topic.Partitions {
			partitionCode, index := r.Int16(), int(r.Int32())
			leads := leader{broker: r.Int32(), epoch: r.Int32()}
			if 0 <= index && index < len(leaders) {
				leaders[index] = leads
			}
			replicas := r.CompactArray(4)
			r.Take(4 * replicas)
			r.Take(4 * r.CompactArray(4)) // in-sync replicas
			r.Take(4 * r.CompactArray(4)) // offline replicas
			r.Tags()
			if p == 0 || replicas < topic.Replication {
				topic.Replication = replicas
			}
			if kafka.Code(partitionCode) != kafkago.LeaderNotAvailable &&
				kafka.Code(partitionCode) != kafkago.ReplicaNotAvailable {
				fail("topic "+topic.Name, partitionCode) // a leaderless partition has all that is needed
			}
		}
		r.Int32() // authorised operations
		r.Tags()
		if kafka.Code(code) == kafkago.UnknownTopicOrPartition {
			continue
		}
		fail("topic "+topic.Name, code)
		cluster.Topics[topic.Name] = topic
		cluster.leaders[topic.Name] = leaders
	}
	return cluster, failed
}
