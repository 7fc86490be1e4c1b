package produce

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/wire"
)

const (
	produceVersion = 7 // the first version with zstd

	// produceTimeout is how long a broker waits for its in-sync replicas before it answers REQUEST_TIMED_OUT.
	produceTimeout = 10 * time.Second
)

// Send appends a batch under a given stamp, once and without retry, acknowledged by all in-sync replicas. Producer
// manages stamps; Send is for callers that must break the rules, for example the broker contract. After an error
// without a Code it is unknown whether the batch was appended.
func Send(
	ctx context.Context, c *kafka.Client, transactionalID, topic string, partition int32, b *records.Builder,
	s records.Stamp,
) (baseOffset int64, err error) {
	batch, err := b.Seal(s)
	if err != nil {
		return -1, err
	}
	var body []byte
	if s.Transactional {
		body = wire.AppendString(body, transactionalID)
	} else {
		body = binary.BigEndian.AppendUint16(body, 0xffff) // null
	}
	body = append(body, 0xff, 0xff) // acks −1: all in-sync replicas
	body = binary.BigEndian.AppendUint32(body, uint32(produceTimeout.Milliseconds()))
	body = binary.BigEndian.AppendUint32(body, 1)
	body = wire.AppendString(body, topic)
	body = binary.BigEndian.AppendUint32(body, 1)
	body = binary.BigEndian.AppendUint32(body, uint32(partition))
	body = binary.BigEndian.AppendUint32(body, uint32(len(batch)))
	req := &kafka.LeaderCall{
		Call: c.NewCall(protocol.Produce, produceVersion, false, body), Topic: topic, Partition: partition,
	}
	req.Tail = batch
	answer := kmsg.ProduceResponse{Version: produceVersion}
	req.Into(&answer)
	if _, err := c.RoundTrip(ctx, kafka.AttemptTimeout, req); err != nil {
		b.Abandon() // not reused, because the connection may still be sending it
		return -1, err
	}
	if len(answer.Topics) != 1 || len(answer.Topics[0].Partitions) != 1 {
		return -1, wire.ErrShort
	}
	appended := &answer.Topics[0].Partitions[0]
	return appended.BaseOffset, kafka.CodeError(appended.ErrorCode)
}

// unsequenced is the stamp of a batch that belongs to no producer: a broker appends it each time it arrives.
var unsequenced = records.Stamp{ProducerID: -1, Epoch: -1, Sequence: -1}

// Append appends a batch that belongs to no producer, acknowledged by all in-sync replicas. It is sent again until a
// broker has answered. So the log may have it more than once, and may have it even after an error. b may be Reset and
// reused afterwards.
func Append(
	ctx context.Context, c *kafka.Client, topic string, partition int32, b *records.Builder,
) (baseOffset int64, err error) {
	err = c.Retry(ctx, "append to "+kafka.PartitionName(topic, partition), func(ctx context.Context) error {
		baseOffset, err = Send(ctx, c, "", topic, partition, b, unsequenced)
		return err
	})
	return baseOffset, err
}

// Produce appends a batch to a partition that Begin named. The batch is sent again under the same sequence number until
// the broker has answered, so the log has it once. baseOffset is −1 if only a repetition was answered. b may be Reset
// and reused afterwards. Only one goroutine per partition may call Produce; several partitions may be in use at once.
func (p *Producer) Produce(ctx context.Context, topic string, partition int32, b *records.Builder) (baseOffset int64,
	err error,
) {
	if b.Count() == 0 {
		return -1, fmt.Errorf("kafka: produce: %w: empty batch", kafka.ErrUsage)
	}
	target := kafka.TopicPartition{Topic: topic, Partition: partition}
	stamp, err := p.stamp(target)
	if err != nil {
		return -1, err
	}
	operation := "produce to " + kafka.PartitionName(topic, partition)
	ctx, cancel := context.WithTimeout(ctx, p.timeout)
	defer cancel()
	err = p.client.Retry(ctx, operation, func(ctx context.Context) error {
		base, err := Send(ctx, p.client, p.transactionalID, topic, partition, b, stamp)
		if errors.Is(err, kafkago.DuplicateSequenceNumber) {
			err = nil
		}
		baseOffset = base
		return err
	})
	if err != nil {
		return -1, p.fail(err)
	}
	p.advance(target, int32(b.Count()))
	return baseOffset, nil
}

// ProduceAll appends a pack to a partition, batch by batch, as Produce does, and removes acknowledged batches from the
// pack. It returns the offset after the last record, or −1 if the pack is empty, or if only a repetition of its last
// batch was answered.
func (p *Producer) ProduceAll(
	ctx context.Context, topic string, partition int32, pack *records.Pack,
) (next int64, err error) {
	next = -1
	for len(pack.Batches()) > 0 {
		b := pack.Batches()[0]
		base, err := p.Produce(ctx, topic, partition, b)
		if err != nil {
			return -1, err
		}
		if next = -1; base >= 0 {
			next = base + int64(b.Count())
		}
		pack.Drop()
	}
	return next, nil
}
