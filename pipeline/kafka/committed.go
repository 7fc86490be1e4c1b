package kafka

import (
	"context"
	"encoding/binary"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// Place is a group's committed offset for a partition, and what its owner has noted with it: at most some thousand
// bytes, readable for whoever may describe the group.
type Place struct {
	Offset int64
	Note   string
}

// CommittedOffset is the offset of CommittedPlace.
func (c *Client) CommittedOffset(ctx context.Context, group, topic string, partition int32) (int64, error) {
	at, err := c.CommittedPlace(ctx, group, topic, partition)
	return at.Offset, err
}

// CommittedPlace is a group's committed place for a partition, of offset -1 if it has none. It waits for a transaction
// that is about to change it (require_stable).
func (c *Client) CommittedPlace(ctx context.Context, group, topic string, partition int32) (Place, error) {
	at := Place{Offset: -1}
	what := "offset of group " + group + " for " + place(topic, partition)
	err := c.retryAt(ctx, groupOf(group), what, func(ctx context.Context) error {
		body := appendCompactString(nil, group)
		body = append(body, 2) // one topic
		body = appendCompactString(body, topic)
		body = append(body, 2) // one partition
		body = binary.BigEndian.AppendUint32(body, uint32(partition))
		body = append(body, 0, 1, 0) // topic tags; require stable; tags
		req := &groupCall{call: c.newCall(protocol.OffsetFetch, 7, true, body), group: group}
		found, code := Place{Offset: -1}, int16(0)
		req.complete(func(r *wireReader) { found, code = parseOffsetFetch(r) })
		if _, err := c.roundTrip(ctx, attemptTimeout, req); err != nil {
			return err
		}
		if Code(code) == codeGroupNotFound {
			found, code = Place{Offset: -1}, 0
		}
		at = found
		return codeError(code)
	})
	return at, err
}

// parseOffsetFetch reads an OffsetFetch 7 answer for one partition.
func parseOffsetFetch(r *wireReader) (at Place, code int16) {
	at.Offset = -1
	r.int32() // throttle
	for n := r.compactArray(3); n > 0; n-- {
		r.compactString()
		for m := r.compactArray(20); m > 0; m-- {
			r.int32() // partition
			at.Offset = r.int64()
			r.int32() // leader epoch
			at.Note = r.compactString()
			code = r.int16()
			r.tags()
		}
		r.tags()
	}
	if whole := r.int16(); whole != 0 {
		code = whole
	}
	r.tags()
	return at, code
}

// AlterOffset sets a group's committed offset outside any transaction, as an operator's reset tool does. The group must
// have no members.
func (c *Client) AlterOffset(ctx context.Context, group, topic string, partition int32, offset int64) error {
	return c.retry(ctx, "set offset of group "+group, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
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
