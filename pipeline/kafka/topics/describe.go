package topics

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
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
		found, failed, err := describe(ctx, c, kafka.AnyBroker{}, names)
		if err := cmp.Or(err, failed); err != nil {
			return err
		}
		cluster = found
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
func (t Topic) confirm(ctx context.Context, c *kafka.Client, broker kafka.Node) (Cluster, error) {
	cluster, failed, err := describe(ctx, c, broker, []string{t.Name})
	if err != nil {
		return Cluster{}, err
	}
	return cluster, cmp.Or(failed, t.same(cluster))
}

// describe asks a broker for topics. failed is the first error of a topic that exists but could not be described.
func describe(
	ctx context.Context, c *kafka.Client, to kafka.Target, names []string,
) (cluster Cluster, failed, err error) {
	req := kmsg.MetadataRequest{Topics: []kmsg.MetadataRequestTopic{}} // nil would ask for every topic
	for _, name := range names {
		req.Topics = append(req.Topics, kmsg.MetadataRequestTopic{Topic: &name})
	}
	res, err := kafka.Ask[*kmsg.MetadataResponse](ctx, c, kafka.AttemptTimeout, to, &req, metadataVersion)
	if err != nil {
		return Cluster{}, nil, err
	}
	cluster, failed = clusterOf(res)
	return cluster, failed, nil
}

// clusterOf converts a Metadata answer. It returns the first error of a topic that exists but could not be described.
func clusterOf(res *kmsg.MetadataResponse) (cluster Cluster, failed error) {
	fail := func(what string, code kafka.Code) {
		if failed == nil && code != 0 {
			failed = fmt.Errorf("%s: %w", what, code)
		}
	}
	cluster = Cluster{Brokers: len(res.Brokers), Topics: map[string]Topic{}, leaders: map[string][]leader{}}
	if res.ClusterID != nil {
		cluster.ID = *res.ClusterID
	}
	for _, t := range res.Topics {
		if t.Topic == nil || kafka.Code(t.ErrorCode) == kafkago.UnknownTopicOrPartition {
			continue
		}
		topic := Topic{Name: *t.Topic, ID: t.TopicID, Partitions: len(t.Partitions)}
		leaders := slices.Repeat([]leader{{broker: -1}}, len(t.Partitions))
		for i, p := range t.Partitions {
			if 0 <= p.Partition && int(p.Partition) < len(leaders) {
				leaders[p.Partition] = leader{broker: p.Leader, epoch: p.LeaderEpoch}
			}
			if i == 0 || len(p.Replicas) < topic.Replication {
				topic.Replication = len(p.Replicas)
			}
			code := kafka.Code(p.ErrorCode)
			if code != kafkago.LeaderNotAvailable && code != kafkago.ReplicaNotAvailable {
				fail("topic "+topic.Name, code) // a leaderless partition has all that is needed
			}
		}
		fail("topic "+topic.Name, kafka.Code(t.ErrorCode))
		cluster.Topics[topic.Name] = topic
		cluster.leaders[topic.Name] = leaders
	}
	return cluster, failed
}
