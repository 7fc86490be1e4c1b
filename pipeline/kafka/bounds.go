package kafka

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

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

// ErrUndecided reports a partition with an open transaction, from brokers that are well. It is transient: the
// transaction is ended by its producer, by whoever takes the producer's id over, or by the broker at its timeout.
var ErrUndecided = errors.New("a transaction on it is not decided yet")

// StableEnd waits until every transaction on a partition is decided, so that a read_committed reader sees it all. A
// caller that has fenced every other producer knows that nothing is appended behind this end.
func (c *Client) StableEnd(ctx context.Context, topic string, partition int32) (Bounds, error) {
	var bounds Bounds
	err := c.retry(ctx, "wait for the transactions on "+place(topic, partition), func(ctx context.Context) error {
		var err error
		if bounds, err = c.Bounds(ctx, topic, partition); err != nil {
			return err
		}
		if bounds.Stable != bounds.High {
			return fmt.Errorf("%w: %d of %d offsets are stable", ErrUndecided, bounds.Stable, bounds.High)
		}
		return nil
	})
	return bounds, err
}

// readablePatience bounds the wait of ReadableEnd for a transaction that nobody ends.
const readablePatience = 10 * time.Second

// ReadableEnd waits until every transaction that has written to a partition so far is decided; later ones may be open
// behind it. A commit is acknowledged before its markers are in the log, and until they are a read_committed reader
// sees nothing of it: whoever reads what others have committed just before has to wait for them. A transaction that
// stays open is not waited for for ever; the stable end is then before it.
func (c *Client) ReadableEnd(ctx context.Context, topic string, partition int32) (Bounds, error) {
	bounds, err := c.Bounds(ctx, topic, partition)
	patient, cancel := context.WithTimeout(ctx, readablePatience)
	defer cancel()
	written, pause := bounds.High, c.pauses()
	for err == nil && bounds.Stable < written && pause.Wait(patient) == nil {
		bounds, err = c.Bounds(ctx, topic, partition)
	}
	return bounds, cmp.Or(err, ctx.Err())
}
