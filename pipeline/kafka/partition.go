package kafka

import (
	"fmt"
	"strings"

	kafkago "github.com/segmentio/kafka-go"
)

// PartitionOf is where Kafka's default partitioner (murmur2) puts a key.
func PartitionOf(key []byte, partitions int) int32 {
	all := make([]int, partitions)
	for i := range all {
		all[i] = i
	}
	return int32(kafkago.Murmur2Balancer{}.Balance(kafkago.Message{Key: key}, all...))
}

// TopicPartition names a partition.
type TopicPartition struct {
	Topic     string
	Partition int32
}

// PartitionName names a partition in errors.
func PartitionName(topic string, partition int32) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s/%d", topic, partition)
	return b.String()
}
