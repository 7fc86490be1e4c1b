package kafka

import kafkago "github.com/segmentio/kafka-go"

// PartitionOf is where Kafka's default partitioner (murmur2) puts a key.
func PartitionOf(key []byte, partitions int) int32 {
	all := make([]int, partitions)
	for i := range all {
		all[i] = i
	}
	return int32(kafkago.Murmur2Balancer{}.Balance(kafkago.Message{Key: key}, all...))
}
