package topics

import (
	"context"
	"fmt"

	"github.com/twmb/franz-go/pkg/kmsg"

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
		leader := kafka.TopicPartition{Topic: topic, Partition: partition}
		found, err := epochEnds(ctx, c, leader, topic, []partitionEpoch{{partition, current}}, []int32{epoch})
		if err == nil && len(found) != 1 {
			err = wire.ErrShort
		}
		if err != nil {
			return err
		}
		a := found[0]
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

// epochEnds asks a broker for the ends of leader epochs, one of each partition that the broker leads.
func epochEnds(
	ctx context.Context, c *kafka.Client, to kafka.Target, topic string, parts []partitionEpoch, epochs []int32,
) (all []answer, err error) {
	req, of := kmsg.OffsetForLeaderEpochRequest{ReplicaID: -1}, kmsg.OffsetForLeaderEpochRequestTopic{Topic: topic}
	for i, p := range parts {
		of.Partitions = append(of.Partitions, kmsg.OffsetForLeaderEpochRequestTopicPartition{
			Partition: p.partition, CurrentLeaderEpoch: p.epoch, LeaderEpoch: epochs[i],
		})
	}
	req.Topics = append(req.Topics, of)
	res, err := kafka.Ask[*kmsg.OffsetForLeaderEpochResponse](ctx, c, kafka.AttemptTimeout, to, &req, epochEndsVersion)
	if err != nil {
		return nil, err
	}
	for _, t := range res.Topics {
		for _, p := range t.Partitions {
			all = append(all, answer{p.Partition, p.ErrorCode, p.LeaderEpoch, p.EndOffset})
		}
	}
	return all, nil
}

// before converts the answer for an epoch.
func (a answer) before() EpochBefore {
	if a.epoch < 0 {
		return EpochBefore{-1, -1}
	}
	return EpochBefore{a.epoch, a.offset}
}
