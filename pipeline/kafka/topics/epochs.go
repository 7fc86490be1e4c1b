package topics

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/segmentio/kafka-go/protocol"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/wire"
)

// EpochBefore is a leader's answer for a leader epoch: the largest epoch, not above it, of which the partition's log
// has records, and the end of this epoch. An epoch ends at the start of the next epoch, or at the end of the log. Both
// fields are −1 if the leader does not know them.
type EpochBefore struct {
	Known int32
	End   int64
}

// EndOf returns the offset at which a leader epoch ends in the log, given the answer for it. It is −1 if the broker
// does not know it, for example for a future epoch. For a log that has older epochs but not this one it returns
// ErrTruncated: an epoch with records stays known until retention has deleted all of them, and then ends at the log's
// start.
func (b EpochBefore) EndOf(epoch int32) (int64, error) {
	switch {
	case b.Known > epoch:
		return -1, nil
	case b.Known >= 0 && b.Known < epoch:
		return -1, fmt.Errorf("%w: no epoch %d in it, epoch %d ends at offset %d", kafka.ErrTruncated, epoch, b.Known, b.End)
	}
	return b.End, nil
}

// EpochEnd asks for the end of a leader epoch: see EpochBefore.EndOf.
func EpochEnd(ctx context.Context, c *kafka.Client, topic string, partition, epoch int32) (int64, error) {
	before, err := epochBefore(ctx, c, topic, partition, epoch)
	if err != nil {
		return -1, err
	}
	return before.EndOf(epoch)
}

// Reach returns the offset up to which the log of a partition has the records of leaders with epochs up to a given one.
// Such a leader need not have written anything; then the log ends in an earlier epoch. If the broker knows no epochs,
// Reach is the end of the log.
func Reach(ctx context.Context, c *kafka.Client, topic string, partition, epoch int32) (int64, error) {
	before, err := epochBefore(ctx, c, topic, partition, epoch)
	if err != nil || before.Known >= 0 {
		return before.End, err
	}
	bounds, err := BoundsOf(ctx, c, topic, partition)
	return before.Reach(bounds), err
}

// Reach computes the result of the function Reach, given the answer for the epoch and the bounds of the partition.
func (b EpochBefore) Reach(bounds Bounds) int64 {
	if b.Known < 0 {
		return bounds.High
	}
	return b.End
}

func epochBefore(
	ctx context.Context, c *kafka.Client, topic string, partition, epoch int32,
) (before EpochBefore, err error) {
	err = c.Retry(ctx, "end of epoch of "+kafka.PartitionName(topic, partition), func(ctx context.Context) error {
		current, err := c.LeaderEpoch(ctx, topic, partition)
		if err != nil {
			return err
		}
		body := epochEnds(topic, []partitionEpoch{{partition, current}}, []int32{epoch})
		req := &kafka.LeaderCall{
			Call: c.NewCall(protocol.OffsetForLeaderEpoch, epochEndsVersion, false, body), Topic: topic, Partition: partition,
		}
		var a answer
		req.Complete(func(r *wire.Reader) { parseEpochEnds(r, func(found answer) { a = found }) })
		if _, err := c.RoundTrip(ctx, kafka.AttemptTimeout, req); err != nil {
			return err
		}
		before = a.before()
		return kafka.CodeError(a.code)
	})
	if err != nil {
		before = EpochBefore{-1, -1}
	}
	return before, err
}

// epochEndsVersion is the first version whose answer names the epoch (Kafka 2.3).
const epochEndsVersion = 3

// epochEnds returns the body of an OffsetForLeaderEpoch request for partitions of one leader, with one epoch each.
func epochEnds(topic string, parts []partitionEpoch, epochs []int32) []byte {
	body := binary.BigEndian.AppendUint32(nil, ^uint32(0)) // replica id −1: a consumer
	body = binary.BigEndian.AppendUint32(body, 1)
	body = wire.AppendString(body, topic)
	body = binary.BigEndian.AppendUint32(body, uint32(len(parts)))
	for i, p := range parts {
		body = binary.BigEndian.AppendUint32(body, uint32(p.partition))
		body = binary.BigEndian.AppendUint32(body, uint32(p.epoch)) // epoch of the leader that receives the request
		body = binary.BigEndian.AppendUint32(body, uint32(epochs[i]))
	}
	return body
}

// parseEpochEnds reads an OffsetForLeaderEpoch answer.
func parseEpochEnds(r *wire.Reader, each func(answer)) {
	r.Int32() // throttle time
	for n := r.Array(6); n > 0; n-- {
		r.Text()
		for m := r.Array(18); m > 0; m-- {
			a := answer{code: r.Int16(), partition: r.Int32(), epoch: r.Int32(), offset: r.Int64()}
			if r.Err == nil {
				each(a)
			}
		}
	}
}

// before converts the answer for an epoch.
func (a answer) before() EpochBefore {
	if a.epoch < 0 {
		return EpochBefore{-1, -1}
	}
	return EpochBefore{a.epoch, a.offset}
}
