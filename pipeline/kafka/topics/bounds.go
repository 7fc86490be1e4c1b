package topics

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/wire"
)

// Bounds are the ends of a partition's log. They come from three requests, one after the other, so High may be more
// recent than Stable. Start ≤ Stable ≤ High always holds for a log that only grows.
type Bounds struct {
	Start  int64 // first offset that was not deleted
	Stable int64 // end for read_committed consumers: the start of the first open transaction, if any
	High   int64 // end of the replicated records
}

// BoundsOf asks the leader for the ends of a partition, and waits while there is no leader. BoundsOf cannot distinguish
// a missing topic from a new one; Describe can. After a commit it takes milliseconds until Stable reaches High.
func BoundsOf(ctx context.Context, c *kafka.Client, topic string, partition int32) (Bounds, error) {
	var b Bounds
	err := c.Retry(ctx, "bounds of "+kafka.PartitionName(topic, partition), func(ctx context.Context) error {
		var err error
		if b.Start, err = listOffset(ctx, c, topic, partition, kafkago.FirstOffset, kafkago.ReadCommitted); err != nil {
			return err
		}
		if b.Stable, err = listOffset(ctx, c, topic, partition, kafkago.LastOffset, kafkago.ReadCommitted); err != nil {
			return err
		}
		b.High, err = listOffset(ctx, c, topic, partition, kafkago.LastOffset, kafkago.ReadUncommitted)
		return err
	})
	return b, err
}

func listOffset(
	ctx context.Context, c *kafka.Client, topic string, partition int32, at int64, level kafkago.IsolationLevel,
) (int64, error) {
	epoch, err := c.LeaderEpoch(ctx, topic, partition)
	if err != nil {
		return -1, err
	}
	leader := kafka.TopicPartition{Topic: topic, Partition: partition}
	found, err := listOffsets(ctx, c, leader, topic, at, level, []partitionEpoch{{partition, epoch}})
	if err == nil && len(found) != 1 {
		err = wire.ErrShort
	}
	if err != nil {
		return -1, err
	}
	return found[0].offset, kafka.CodeError(found[0].code)
}

// listOffsetsVersion is the first version with error codes for partitions that move to another leader (Kafka 2.2).
const listOffsetsVersion = 5

// partitionEpoch is a partition with the epoch of its leader.
type partitionEpoch struct{ partition, epoch int32 }

// answer is a leader's answer for a partition: an offset and its leader epoch.
type answer struct {
	partition int32
	code      int16
	epoch     int32
	offset    int64
}

// listOffsets asks a broker for offsets of partitions that it leads. A broker that does not know an offset answers with
// a code.
func listOffsets(
	ctx context.Context, c *kafka.Client, to kafka.Target, topic string, at int64, level kafkago.IsolationLevel,
	parts []partitionEpoch,
) (all []answer, err error) {
	req, of := kmsg.NewListOffsetsRequest(), kmsg.ListOffsetsRequestTopic{Topic: topic}
	req.IsolationLevel = int8(level)
	for _, p := range parts {
		of.Partitions = append(of.Partitions, kmsg.ListOffsetsRequestTopicPartition{
			Partition: p.partition, CurrentLeaderEpoch: p.epoch, Timestamp: at,
		})
	}
	req.Topics = append(req.Topics, of)
	res, err := kafka.Ask[*kmsg.ListOffsetsResponse](ctx, c, kafka.AttemptTimeout, to, &req, listOffsetsVersion)
	if err != nil {
		return nil, err
	}
	for _, t := range res.Topics {
		for _, p := range t.Partitions {
			a := answer{p.Partition, p.ErrorCode, p.LeaderEpoch, p.Offset}
			if a.code == 0 && a.offset < 0 {
				a.code = int16(kafkago.OffsetNotAvailable)
			}
			all = append(all, a)
		}
	}
	return all, nil
}

// ErrUndecided reports a partition with an open transaction, on working brokers. It is transient, because the
// transaction will be ended: by its producer, by the next producer with the same transactional id, or by the broker at
// the transaction's timeout.
var ErrUndecided = errors.New("a transaction on it is not decided yet")

// StableEnd waits until every transaction on a partition is decided, so that a read_committed reader can read all its
// records. If the caller has fenced every other producer, nothing will be appended after this end.
func StableEnd(ctx context.Context, c *kafka.Client, topic string, partition int32) (Bounds, error) {
	var bounds Bounds
	operation := "wait for the transactions on " + kafka.PartitionName(topic, partition)
	err := c.Retry(ctx, operation, func(ctx context.Context) error {
		var err error
		if bounds, err = BoundsOf(ctx, c, topic, partition); err != nil {
			return err
		}
		if bounds.Stable != bounds.High {
			return fmt.Errorf("%w: %d of %d offsets are stable", ErrUndecided, bounds.Stable, bounds.High)
		}
		return nil
	})
	return bounds, err
}

// readablePatience bounds the wait of ReadableEnd for a transaction that stays open.
const readablePatience = 10 * time.Second

// ReadableEnd waits until every transaction that has written to a partition so far is decided; later transactions may
// be open after it. It is for a caller that reads records which other processes have just committed: a broker
// acknowledges a commit before its markers are in the log, and a read_committed reader sees the records only after the
// markers. The wait is bounded. If a transaction stays open, the stable end is before it.
func ReadableEnd(ctx context.Context, c *kafka.Client, topic string, partition int32) (Bounds, error) {
	bounds, err := BoundsOf(ctx, c, topic, partition)
	patient, cancel := context.WithTimeout(ctx, readablePatience)
	defer cancel()
	written, pause := bounds.High, c.Pauses()
	for err == nil && bounds.Stable < written && pause.Wait(patient) == nil {
		bounds, err = BoundsOf(ctx, c, topic, partition)
	}
	return bounds, cmp.Or(err, ctx.Err())
}
