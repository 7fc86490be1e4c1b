package group

import (
	"context"
	"encoding/binary"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/wire"
)

// Place is a group's committed offset for a partition, and what its owner has noted with it: at most some thousand
// bytes, readable for whoever may describe the group.
type Place struct {
	Offset int64
	Note   string
}

// CommittedOffset is the offset of CommittedPlace.
func CommittedOffset(ctx context.Context, c *kafka.Client, group, topic string, partition int32) (int64, error) {
	at, err := CommittedPlace(ctx, c, group, topic, partition)
	return at.Offset, err
}

// CommittedPlace is a group's committed place for a partition, of offset -1 if it has none. It waits for a transaction
// that is about to change it (require_stable).
func CommittedPlace(ctx context.Context, c *kafka.Client, group, topic string, partition int32) (Place, error) {
	at := Place{Offset: -1}
	what := "offset of group " + group + " for " + kafka.PartitionName(topic, partition)
	err := c.RetryAt(ctx, kafka.CoordinatorOfGroup(group), what, func(ctx context.Context) error {
		body := wire.AppendCompactString(nil, group)
		body = append(body, 2) // one topic
		body = wire.AppendCompactString(body, topic)
		body = append(body, 2) // one partition
		body = binary.BigEndian.AppendUint32(body, uint32(partition))
		body = append(body, 0, 1, 0) // topic tags; require stable; tags
		req := &kafka.GroupCall{Call: c.NewCall(protocol.OffsetFetch, 7, true, body), ID: group}
		found, code := Place{Offset: -1}, int16(0)
		req.Complete(func(r *wire.Reader) { found, code = parseOffsetFetch(r) })
		if _, err := c.RoundTrip(ctx, kafka.AttemptTimeout, req); err != nil {
			return err
		}
		if kafka.Code(code) == codeGroupNotFound {
			found, code = Place{Offset: -1}, 0
		}
		at = found
		return kafka.CodeError(code)
	})
	return at, err
}

// parseOffsetFetch reads an OffsetFetch 7 answer for one partition.
func parseOffsetFetch(r *wire.Reader) (at Place, code int16) {
	at.Offset = -1
	r.Int32() // throttle
	for n := r.CompactArray(3); n > 0; n-- {
		r.CompactText()
		for m := r.CompactArray(20); m > 0; m-- {
			r.Int32() // partition
			at.Offset = r.Int64()
			r.Int32() // leader epoch
			at.Note = r.CompactText()
			code = r.Int16()
			r.Tags()
		}
		r.Tags()
	}
	if whole := r.Int16(); whole != 0 {
		code = whole
	}
	r.Tags()
	return at, code
}

// AlterOffset sets a group's committed offset outside any transaction, as an operator's reset tool does. The group must
// have no members.
func AlterOffset(ctx context.Context, c *kafka.Client, group, topic string, partition int32, offset int64) error {
	return c.Retry(ctx, "set offset of group "+group, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, kafka.AttemptTimeout)
		defer cancel()
		res, err := c.API().OffsetCommit(ctx, &kafkago.OffsetCommitRequest{
			GroupID:      group,
			GenerationID: -1,
			Topics:       map[string][]kafkago.OffsetCommit{topic: {{Partition: int(partition), Offset: offset}}},
		})
		if err != nil {
			return err
		}
		for _, p := range res.Topics[topic] {
			if p.Error != nil {
				return p.Error
			}
		}
		return nil
	})
}

// Membership is what makes CommitOffset refuse a member whose generation is over.
type Membership struct {
	Group      string
	Generation int32
	Member     string
}
