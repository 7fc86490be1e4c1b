package topics

import (
	"context"
	"encoding/binary"

	"github.com/segmentio/kafka-go/protocol"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/wire"
)

// deleteRecordsVersion is supported by every broker from Kafka 2.0 on.
const deleteRecordsVersion = 1

// DeleteRecords deletes the records of a partition before an offset, as retention does.
func DeleteRecords(ctx context.Context, c *kafka.Client, topic string, partition int32, before int64) error {
	body := binary.BigEndian.AppendUint32(nil, 1)
	body = wire.AppendString(body, topic)
	body = binary.BigEndian.AppendUint32(body, 1)
	body = binary.BigEndian.AppendUint32(body, uint32(partition))
	body = binary.BigEndian.AppendUint64(body, uint64(before))
	body = binary.BigEndian.AppendUint32(body, uint32(kafka.AttemptTimeout.Milliseconds()))
	return c.Retry(ctx, "delete records of "+kafka.PartitionName(topic, partition), func(ctx context.Context) error {
		req := &kafka.LeaderCall{
			Call: c.NewCall(protocol.DeleteRecords, deleteRecordsVersion, false, body), Topic: topic, Partition: partition,
		}
		code := int16(0)
		req.Complete(func(r *wire.Reader) { code = parseDeleteRecords(r) })
		if _, err := c.RoundTrip(ctx, kafka.AttemptTimeout, req); err != nil {
			return err
		}
		return kafka.CodeError(code)
	})
}

// parseDeleteRecords reads a DeleteRecords 1 answer for one partition.
func parseDeleteRecords(r *wire.Reader) (code int16) {
	r.Int32() // throttle time
	for n := r.Array(6); n > 0; n-- {
		r.Text()
		for m := r.Array(14); m > 0; m-- {
			r.Int32() // partition index
			r.Int64() // log start
			code = r.Int16()
		}
	}
	return code
}
