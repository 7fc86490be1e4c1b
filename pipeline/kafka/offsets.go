package kafka

import (
	"context"
	"encoding/binary"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// Bounds are the ends of a partition's log. They are asked for one after the other, so High may already lie further
// than it did when Stable was taken; Start ≤ Stable ≤ High always holds for a log that only grows.
type Bounds struct {
	Start  int64 // first offset that is still there
	Stable int64 // end for read_committed: no transaction before it is open
	High   int64 // end of what is replicated
}

// Bounds asks the leader for the ends of a partition, waiting for one while there is none. That a topic does not exist
// looks the same as that it is new: Describe tells. After a commit Stable follows High within milliseconds, not at
// once.
func (c *Client) Bounds(ctx context.Context, topic string, partition int32) (Bounds, error) {
	var b Bounds
	err := c.retry(ctx, "bounds of "+place(topic, partition), func(ctx context.Context) error {
		var err error
		if b.Start, err = c.listOffset(ctx, topic, partition, kafkago.FirstOffset, kafkago.ReadCommitted); err != nil {
			return err
		}
		if b.Stable, err = c.listOffset(ctx, topic, partition, kafkago.LastOffset, kafkago.ReadCommitted); err != nil {
			return err
		}
		b.High, err = c.listOffset(ctx, topic, partition, kafkago.LastOffset, kafkago.ReadUncommitted)
		return err
	})
	return b, err
}

func (c *Client) listOffset(
	ctx context.Context, topic string, partition int32, at int64, level kafkago.IsolationLevel,
) (int64, error) {
	epoch, err := c.leaderEpoch(ctx, topic, partition)
	if err != nil {
		return -1, err
	}
	body := binary.BigEndian.AppendUint32(nil, ^uint32(0)) // not a replica
	body = append(body, byte(level))
	body = binary.BigEndian.AppendUint32(body, 1)
	body = appendString(body, topic)
	body = binary.BigEndian.AppendUint32(body, 1)
	body = binary.BigEndian.AppendUint32(body, uint32(partition))
	body = binary.BigEndian.AppendUint32(body, uint32(epoch)) // of the leader that is asked
	body = binary.BigEndian.AppendUint64(body, uint64(at))
	req := &leaderCall{call: c.newCall(protocol.ListOffsets, 5, false, body), topic: topic, partition: partition}
	offset, code := int64(-1), int16(0)
	req.complete(func(r *wireReader) { offset, code = parseListOffset(r) })
	if _, err := c.roundTrip(ctx, attemptTimeout, req); err != nil {
		return -1, err
	}
	if code != 0 {
		return -1, codeError(code)
	}
	if offset < 0 {
		return -1, Code(kafkago.OffsetNotAvailable)
	}
	return offset, nil
}

// parseListOffset reads a ListOffsets 5 answer for one partition.
func parseListOffset(r *wireReader) (offset int64, code int16) {
	offset = -1
	r.int32() // throttle
	for n := r.array(6); n > 0; n-- {
		r.string()
		for m := r.array(26); m > 0; m-- {
			r.int32() // partition
			code = r.int16()
			r.int64() // timestamp
			offset = r.int64()
			r.int32() // leader epoch
		}
	}
	return offset, code
}

// EpochEnd is the offset at which a leader epoch ends in the log: where the next one starts, or the end of the log. It
// is -1 if the broker cannot tell, as for an epoch that is yet to come. A log that has older epochs but not this one is
// ErrTruncated: an epoch that had records stays known until retention has passed it, and then ends at the log's start.
func (c *Client) EpochEnd(ctx context.Context, topic string, partition, epoch int32) (int64, error) {
	answer := int64(-1)
	err := c.retry(ctx, "end of epoch of "+place(topic, partition), func(ctx context.Context) error {
		current, err := c.leaderEpoch(ctx, topic, partition)
		if err != nil {
			return err
		}
		body := binary.BigEndian.AppendUint32(nil, ^uint32(0)) // not a replica
		body = binary.BigEndian.AppendUint32(body, 1)
		body = appendString(body, topic)
		body = binary.BigEndian.AppendUint32(body, 1)
		body = binary.BigEndian.AppendUint32(body, uint32(partition))
		body = binary.BigEndian.AppendUint32(body, uint32(current)) // of the leader that is asked
		body = binary.BigEndian.AppendUint32(body, uint32(epoch))
		req := &leaderCall{call: c.newCall(protocol.OffsetForLeaderEpoch, 3, false, body), topic: topic, partition: partition}
		got, end, code := int32(-1), int64(-1), int16(0)
		req.complete(func(r *wireReader) { got, end, code = parseEpochEnd(r) })
		if _, err := c.roundTrip(ctx, attemptTimeout, req); err != nil {
			return err
		}
		if code != 0 {
			return codeError(code)
		}
		if got >= 0 && got < epoch {
			return fmt.Errorf("%w: no epoch %d in it, epoch %d ends at offset %d", ErrTruncated, epoch, got, end)
		}
		if got == epoch {
			answer = end
		}
		return nil
	})
	return answer, err
}

// parseEpochEnd reads an OffsetForLeaderEpoch 3 answer for one partition.
func parseEpochEnd(r *wireReader) (epoch int32, end int64, code int16) {
	epoch, end = -1, -1
	r.int32() // throttle
	for n := r.array(6); n > 0; n-- {
		r.string()
		for m := r.array(18); m > 0; m-- {
			code = r.int16()
			r.int32() // partition
			epoch, end = r.int32(), r.int64()
		}
	}
	return epoch, end, code
}

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
		res, err := c.kafka.OffsetCommit(ctx, &kafkago.OffsetCommitRequest{
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
