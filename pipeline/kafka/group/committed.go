package group

import (
	"context"
	"encoding/binary"
	"slices"

	"github.com/segmentio/kafka-go/protocol"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/wire"
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
		body := wire.AppendCompactString(nil, group)
		body = append(body, 2) // array of one topic
		body = wire.AppendCompactString(body, topic)
		body = binary.AppendUvarint(body, uint64(len(partitions))+1)
		for _, partition := range partitions {
			body = binary.BigEndian.AppendUint32(body, uint32(partition))
		}
		body = append(body, 0, 0, 0) // topic tags; require stable offsets; tags
		if stable {
			body[len(body)-2] = 1
		}
		req := &kafka.GroupCall{Call: c.NewCall(protocol.OffsetFetch, 7, true, body), ID: group}
		found, code := noOffsets(partitions), int16(0)
		req.Complete(func(r *wire.Reader) { found, code = parseOffsetFetch(r, partitions) })
		if _, err := c.RoundTrip(ctx, kafka.AttemptTimeout, req); err != nil {
			return err
		}
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

// parseOffsetFetch reads an OffsetFetch 7 answer for partitions of one topic. code is the first error code among them.
func parseOffsetFetch(r *wire.Reader, partitions []int32) (offsets []Offset, code int16) {
	offsets = noOffsets(partitions)
	r.Int32() // throttle time
	for n := r.CompactArray(3); n > 0; n-- {
		r.CompactText()
		for m := r.CompactArray(20); m > 0; m-- {
			at := Offset{Partition: r.Int32(), Offset: r.Int64()}
			r.Int32() // leader epoch
			at.Note = r.CompactText()
			if is := r.Int16(); is != 0 {
				code = is
			}
			r.Tags()
			if i := slices.Index(partitions, at.Partition); i >= 0 {
				offsets[i] = at
			}
		}
		r.Tags()
	}
	if whole := r.Int16(); whole != 0 {
		code = whole
	}
	r.Tags()
	return offsets, code
}
