package topics

import (
	"context"
	"errors"
	"fmt"

	kafkago "github.com/segmentio/kafka-go"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/wire"
)

// Settings returns a topic's effective settings by name. Sensitive ones are empty.
func Settings(ctx context.Context, c *kafka.Client, topic string) (map[string]string, error) {
	var settings map[string]string
	err := c.Retry(ctx, "settings of topic "+topic, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, kafka.AttemptTimeout)
		defer cancel()
		res, err := c.API().DescribeConfigs(ctx, &kafkago.DescribeConfigsRequest{
			Resources: []kafkago.DescribeConfigRequestResource{{
				ResourceType: kafkago.ResourceTypeTopic,
				ResourceName: topic,
			}},
		})
		if err != nil {
			return err
		}
		if len(res.Resources) != 1 {
			return wire.ErrShort
		}
		if err := res.Resources[0].Error; err != nil {
			return err
		}
		settings = make(map[string]string, len(res.Resources[0].ConfigEntries))
		for _, e := range res.Resources[0].ConfigEntries {
			settings[e.ConfigName] = e.ConfigValue
		}
		return nil
	})
	return settings, err
}

// Create creates a topic and waits until it can be described and its partitions have leaders. It may return
// ErrTopicExists if an earlier attempt of this call succeeded and its answer was lost. So a caller that treats this
// error as success must check the topic's partitions and settings.
func Create(ctx context.Context, c *kafka.Client, name string, partitions, replication int,
	settings map[string]string,
) error {
	config := kafkago.TopicConfig{Topic: name, NumPartitions: partitions, ReplicationFactor: replication}
	for k, v := range settings {
		config.ConfigEntries = append(config.ConfigEntries, kafkago.ConfigEntry{ConfigName: k, ConfigValue: v})
	}
	operation := "create topic " + name
	err := c.Retry(ctx, operation, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, kafka.AttemptTimeout)
		defer cancel()
		res, err := c.API().CreateTopics(ctx, &kafkago.CreateTopicsRequest{Topics: []kafkago.TopicConfig{config}})
		if err != nil {
			return err
		}
		err = res.Errors[name]
		if errors.Is(err, kafkago.TopicAlreadyExists) {
			return kafka.ErrTopicExists
		}
		return err
	})
	if err != nil {
		return err
	}
	for p := range partitions {
		if _, err := BoundsOf(ctx, c, name, int32(p)); err != nil {
			return fmt.Errorf("kafka: %s: %w", operation, err)
		}
	}
	return nil
}

// AddPartitions gives a topic more partitions, up to a total, and waits until they have leaders. A topic with at least
// this many partitions stays unchanged.
func AddPartitions(ctx context.Context, c *kafka.Client, topic string, total int) error {
	operation := "add partitions to topic " + topic
	had := 0
	err := c.Retry(ctx, operation, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, kafka.AttemptTimeout)
		defer cancel()
		cluster, err := Describe(ctx, c, topic)
		if err != nil {
			return err
		}
		if had = cluster.Topics[topic].Partitions; had >= total {
			return nil
		}
		if had == 0 {
			return kafkago.UnknownTopicOrPartition
		}
		res, err := c.API().CreatePartitions(ctx, &kafkago.CreatePartitionsRequest{
			Topics: []kafkago.TopicPartitionsConfig{{Name: topic, Count: int32(total)}},
		})
		if err != nil {
			return err
		}
		if err := res.Errors[topic]; !errors.Is(err, kafkago.InvalidPartitionNumber) {
			return err
		}
		return errAlreadyAdded
	})
	if err != nil {
		return err
	}
	for p := had; p < total; p++ {
		if _, err := BoundsOf(ctx, c, topic, int32(p)); err != nil {
			return fmt.Errorf("kafka: %s: %w", operation, err)
		}
	}
	return nil
}

// errAlreadyAdded is transient: an attempt whose answer was lost has added the partitions, and the next attempt finds
// them.
var errAlreadyAdded = errors.New("the topic has grown meanwhile")

// deleteRecordsVersion is supported by every broker from Kafka 2.0 on.
const deleteRecordsVersion = 1

// DeleteRecords deletes the records of a partition before an offset, as retention does.
func DeleteRecords(ctx context.Context, c *kafka.Client, topic string, partition int32, before int64) error {
	at := kmsg.DeleteRecordsRequestTopicPartition{Partition: partition, Offset: before}
	of := kmsg.DeleteRecordsRequestTopic{Topic: topic, Partitions: []kmsg.DeleteRecordsRequestTopicPartition{at}}
	req := kmsg.DeleteRecordsRequest{
		Topics: []kmsg.DeleteRecordsRequestTopic{of}, TimeoutMillis: int32(kafka.AttemptTimeout.Milliseconds()),
	}
	leader := kafka.TopicPartition{Topic: topic, Partition: partition}
	return c.Retry(ctx, "delete records of "+kafka.PartitionName(topic, partition), func(ctx context.Context) error {
		res, err := kafka.Ask[*kmsg.DeleteRecordsResponse](ctx, c, kafka.AttemptTimeout, leader, &req, deleteRecordsVersion)
		if err != nil {
			return err
		}
		if len(res.Topics) != 1 || len(res.Topics[0].Partitions) != 1 {
			return wire.ErrShort
		}
		return kafka.CodeError(res.Topics[0].Partitions[0].ErrorCode)
	})
}
