package kafka

import (
	"context"
	"encoding/binary"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
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
func (c *Client) Describe(ctx context.Context, names ...string) (Cluster, error) {
	var cluster Cluster
	err := c.retry(ctx, "describe topics", func(ctx context.Context) error {
		if err := c.checkVersion(ctx, protocol.Metadata, metadataVersion); err != nil {
			return err
		}
		var body []byte
		body = binary.AppendUvarint(body, uint64(len(names))+1)
		for _, name := range names {
			body = append(body, make([]byte, 16)...) // by name, not by id
			body = appendCompactString(body, name)
			body = append(body, 0)
		}
		body = append(body, 0, 0, 0, 0) // create nothing; no authorised operations of cluster and topics; no tags
		req := c.newCall(protocol.Metadata, metadataVersion, true, body)
		var parsed Cluster
		var failed error
		req.complete(func(r *wireReader) { parsed, failed = parseMetadata(r) })
		if _, err := c.roundTrip(ctx, attemptTimeout, &req); err != nil {
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
func parseMetadata(r *wireReader) (Cluster, error) {
	var failed error
	fail := func(what string, code int16) {
		if failed == nil && code != 0 {
			failed = fmt.Errorf("%s: %w", what, codeError(code))
		}
	}
	cluster := Cluster{Topics: map[string]Topic{}}
	r.int32() // throttle
	for n := r.compactArray(12); n > 0; n-- {
		r.int32()
		r.compactString()
		r.int32()
		r.compactString()
		r.tags()
		cluster.Brokers++
	}
	cluster.ID = r.compactString()
	r.int32() // controller
	for n := r.compactArray(25); n > 0; n-- {
		code := r.int16()
		topic := Topic{Name: r.compactString()}
		copy(topic.ID[:], r.take(16))
		r.int8() // internal
		topic.Partitions = r.compactArray(20)
		for p := range topic.Partitions {
			partitionCode := r.int16()
			r.int32() // index
			r.int32() // leader
			r.int32() // leader epoch
			replicas := r.compactArray(4)
			r.take(4 * replicas)
			r.take(4 * r.compactArray(4)) // in sync
			r.take(4 * r.compactArray(4)) // offline
			r.tags()
			if p == 0 || replicas < topic.Replication {
				topic.Replication = replicas
			}
			if Code(partitionCode) != kafkago.LeaderNotAvailable && Code(partitionCode) != kafkago.ReplicaNotAvailable {
				fail("topic "+topic.Name, partitionCode) // without a leader its shape is known all the same
			}
		}
		r.int32() // authorised operations
		r.tags()
		if Code(code) == kafkago.UnknownTopicOrPartition {
			continue
		}
		fail("topic "+topic.Name, code)
		cluster.Topics[topic.Name] = topic
	}
	return cluster, failed
}
