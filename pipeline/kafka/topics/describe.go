package topics

import (
	"context"
	"encoding/binary"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/wire"
)

// metadataVersion is the first with topic ids (Kafka 2.8). kafka-go speaks 8.
const metadataVersion = 10

// Topic is a topic's identity and shape.
type Topic struct {
	Name        string
	ID          [16]byte // survives everything but deletion; a recreated topic has another
	Partitions  int
	Replication int // the smallest number of replicas of its partitions
}

// Cluster is what a cluster says about itself.
type Cluster struct {
	ID      string
	Brokers int
	Topics  map[string]Topic // without those that do not exist
}

// Describe looks up the named topics, past every cache. A topic that does not exist is absent from the result; a topic
// that has just been created may be, for a moment.
func Describe(ctx context.Context, c *kafka.Client, names ...string) (Cluster, error) {
	var cluster Cluster
	err := c.Retry(ctx, "describe topics", func(ctx context.Context) error {
		if err := c.CheckVersion(ctx, protocol.Metadata, metadataVersion); err != nil {
			return err
		}
		var body []byte
		body = binary.AppendUvarint(body, uint64(len(names))+1)
		for _, name := range names {
			body = append(body, make([]byte, 16)...) // by name, not by id
			body = wire.AppendCompactString(body, name)
			body = append(body, 0)
		}
		body = append(body, 0, 0, 0, 0) // create nothing; no authorised operations of cluster and topics; no tags
		req := c.NewCall(protocol.Metadata, metadataVersion, true, body)
		var parsed Cluster
		var failed error
		req.Complete(func(r *wire.Reader) { parsed, failed = parseMetadata(r) })
		if _, err := c.RoundTrip(ctx, kafka.AttemptTimeout, &req); err != nil {
			return err
		}
		if failed != nil {
			return failed
		}
		cluster = parsed
		return nil
	})
	return cluster, err
}

// parseMetadata reads a Metadata answer of metadataVersion. The error is the first of a topic that exists but cannot be
// told.
func parseMetadata(r *wire.Reader) (Cluster, error) {
	var failed error
	fail := func(what string, code int16) {
		if failed == nil && code != 0 {
			failed = fmt.Errorf("%s: %w", what, kafka.CodeError(code))
		}
	}
	cluster := Cluster{Topics: map[string]Topic{}}
	r.Int32() // throttle
	for n := r.CompactArray(12); n > 0; n-- {
		r.Int32()
		r.CompactText()
		r.Int32()
		r.CompactText()
		r.Tags()
		cluster.Brokers++
	}
	cluster.ID = r.CompactText()
	r.Int32() // controller
	for n := r.CompactArray(25); n > 0; n-- {
		code := r.Int16()
		topic := Topic{Name: r.CompactText()}
		copy(topic.ID[:], r.Take(16))
		r.Int8() // internal
		topic.Partitions = r.CompactArray(20)
		for p := range topic.Partitions {
			partitionCode := r.Int16()
			r.Int32() // index
			r.Int32() // leader
			r.Int32() // leader epoch
			replicas := r.CompactArray(4)
			r.Take(4 * replicas)
			r.Take(4 * r.CompactArray(4)) // in sync
			r.Take(4 * r.CompactArray(4)) // offline
			r.Tags()
			if p == 0 || replicas < topic.Replication {
				topic.Replication = replicas
			}
			if kafka.Code(partitionCode) != kafkago.LeaderNotAvailable &&
				kafka.Code(partitionCode) != kafkago.ReplicaNotAvailable {
				fail("topic "+topic.Name, partitionCode) // without a leader its shape is known all the same
			}
		}
		r.Int32() // authorised operations
		r.Tags()
		if kafka.Code(code) == kafkago.UnknownTopicOrPartition {
			continue
		}
		fail("topic "+topic.Name, code)
		cluster.Topics[topic.Name] = topic
	}
	return cluster, failed
}
