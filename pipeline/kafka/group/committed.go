package group

import (
	"context"
	"slices"

	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
)

// Offset is a group's committed offset for a partition.
type Offset struct {
	Partition int32
	Offset    int64  // −1: no offset
	Note      string // metadata, up to some thousand bytes; everyone with DESCRIBE on the group can read it
}

// CommittedOffset returns a group's committed offset for a partition, or −1. It waits for transactions that are about
// to change the offset (require_stable).
func CommittedOffset(ctx context.Context, c *kafka.Client, group, topic string, partition int32) (int64, error) {
	operation := "offset of group " + group + " for " + kafka.PartitionName(topic, partition)
	offsets, err := committed(ctx, c, operation, group, topic, []int32{partition}, true)
	if err != nil {
		return -1, err
	}
	return offsets[0].Offset, nil
}

// CommittedOffsets returns a group's committed offsets for partitions of a topic, in the order of partitions. Like
// CommittedOffset it waits for transactions.
func CommittedOffsets(ctx context.Context, c *kafka.Client, group, topic string, partitions []int32) ([]Offset, error) {
	return committed(ctx, c, "offsets of group "+group+" for "+topic, group, topic, partitions, true)
}

// LastOffsets is CommittedOffsets without a wait: a transaction in progress does not count.
func LastOffsets(ctx context.Context, c *kafka.Client, group, topic string, partitions []int32) ([]Offset, error) {
	return committed(ctx, c, "last offsets of group "+group+" for "+topic, group, topic, partitions, false)
}

func committed(
	ctx context.Context, c *kafka.Client, operation, group, topic string, partitions []int32, stable bool,
) (offsets []Offset, err error) {
	err = c.RetryAt(ctx, kafka.CoordinatorOfGroup(group), operation, func(ctx context.Context) error {
		req := &kmsg.OffsetFetchRequest{
			Group: group, Topics: []kmsg.OffsetFetchRequestTopic{{Topic: topic, Partitions: partitions}}, RequireStable: stable,
		}
		res, err := kafka.Ask[*kmsg.OffsetFetchResponse](
			ctx, c, kafka.AttemptTimeout, kafka.GroupID(group), req, offsetFetchVersion)
		if err != nil {
			return err
		}
		found, code := offsetsOf(res, partitions)
		if kafka.Code(code) == codeGroupNotFound {
			found, code = noOffsets(partitions), 0
		}
		offsets = found
		return kafka.CodeError(code)
	})
	return offsets, err
}

// noOffsets returns −1 for each partition, for a group that never committed.
func noOffsets(partitions []int32) []Offset {
	offsets := make([]Offset, len(partitions))
	for i, p := range partitions {
		offsets[i] = Offset{Partition: p, Offset: -1}
	}
	return offsets
}

// offsetFetchVersion is the first version that can wait for stable offsets (Kafka 2.5).
const offsetFetchVersion = 7

// offsetsOf returns the offsets of an answer for partitions of one topic. code is the answer's error code, or the last
// one of a partition.
func offsetsOf(res *kmsg.OffsetFetchResponse, partitions []int32) (offsets []Offset, code int16) {
	offsets = noOffsets(partitions)
	for _, t := range res.Topics {
		for _, p := range t.Partitions {
			at := Offset{Partition: p.Partition, Offset: p.Offset}
			if p.Metadata != nil {
				at.Note = *p.Metadata
			}
			if p.ErrorCode != 0 {
				code = p.ErrorCode
			}
			if i := slices.Index(partitions, at.Partition); i >= 0 {
				offsets[i] = at
			}
		}
	}
	if res.ErrorCode != 0 {
		code = res.ErrorCode
	}
	return offsets, code
}
