package kafka

import (
	"context"
	"encoding/binary"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// AlterTopic changes settings of a topic and leaves the others, as an operator's tool does.
func (c *Client) AlterTopic(ctx context.Context, topic string, settings map[string]string) error {
	resource := kafkago.IncrementalAlterConfigsRequestResource{
		ResourceType: kafkago.ResourceTypeTopic,
		ResourceName: topic,
	}
	for name, value := range settings {
		resource.Configs = append(resource.Configs, kafkago.IncrementalAlterConfigsRequestConfig{
			Name: name, Value: value, ConfigOperation: kafkago.ConfigOperationSet,
		})
	}
	return c.retry(ctx, "alter topic "+topic, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, attemptTimeout)
		defer cancel()
		res, err := c.API().IncrementalAlterConfigs(ctx, &kafkago.IncrementalAlterConfigsRequest{
			Resources: []kafkago.IncrementalAlterConfigsRequestResource{resource},
		})
		if err != nil {
			return err
		}
		for _, r := range res.Resources {
			if r.Error != nil {
				return r.Error
			}
		}
		return nil
	})
}

// deleteRecordsVersion is what every broker from Kafka 2.0 speaks.
const deleteRecordsVersion = 1

// DeleteRecords moves the start of a partition to an offset, as retention does in its time.
func (c *Client) DeleteRecords(ctx context.Context, topic string, partition int32, before int64) error {
	body := binary.BigEndian.AppendUint32(nil, 1)
	body = appendString(body, topic)
	body = binary.BigEndian.AppendUint32(body, 1)
	body = binary.BigEndian.AppendUint32(body, uint32(partition))
	body = binary.BigEndian.AppendUint64(body, uint64(before))
	body = binary.BigEndian.AppendUint32(body, uint32(attemptTimeout.Milliseconds()))
	return c.retry(ctx, "delete records of "+place(topic, partition), func(ctx context.Context) error {
		req := &leaderCall{
			call: c.newCall(protocol.DeleteRecords, deleteRecordsVersion, false, body), topic: topic, partition: partition,
		}
		code := int16(0)
		req.complete(func(r *wireReader) { code = parseDeleteRecords(r) })
		if _, err := c.roundTrip(ctx, attemptTimeout, req); err != nil {
			return err
		}
		return codeError(code)
	})
}

// parseDeleteRecords reads a DeleteRecords 1 answer for one partition.
func parseDeleteRecords(r *wireReader) (code int16) {
	r.int32() // throttle
	for n := r.array(6); n > 0; n-- {
		r.string()
		for m := r.array(14); m > 0; m-- {
			r.int32() // partition
			r.int64() // start of the log
			code = r.int16()
		}
	}
	return code
}
