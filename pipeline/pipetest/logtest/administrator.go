package logtest

import (
	"context"
	"errors"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka"
)

// Alter changes settings of a topic and leaves the others, as an administrator's tool does.
func Alter(ctx context.Context, c *kafka.Client, topic string, settings map[string]string) error {
	resource := kafkago.IncrementalAlterConfigsRequestResource{
		ResourceType: kafkago.ResourceTypeTopic,
		ResourceName: topic,
	}
	for name, value := range settings {
		resource.Configs = append(resource.Configs, kafkago.IncrementalAlterConfigsRequestConfig{
			Name: name, Value: value, ConfigOperation: kafkago.ConfigOperationSet,
		})
	}
	return c.Retry(ctx, "alter topic "+topic, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, kafka.AttemptTimeout)
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

// Delete deletes a topic. A topic that does not exist is no error, because an earlier attempt may have succeeded.
// Brokers remove the topic shortly afterwards, not at once.
func Delete(ctx context.Context, c *kafka.Client, name string) error {
	return c.Retry(ctx, "delete topic "+name, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, kafka.AttemptTimeout)
		defer cancel()
		res, err := c.API().DeleteTopics(ctx, &kafkago.DeleteTopicsRequest{Topics: []string{name}})
		if err != nil {
			return err
		}
		if err := res.Errors[name]; !errors.Is(err, kafkago.UnknownTopicOrPartition) {
			return err
		}
		return nil
	})
}

// AlterOffset sets a group's committed offset outside any transaction, as an administrator's reset tool does. The group
// must have no members.
func AlterOffset(ctx context.Context, c *kafka.Client, group, topic string, partition int32, offset int64) error {
	return c.Retry(ctx, "set offset of group "+group, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, kafka.AttemptTimeout)
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
