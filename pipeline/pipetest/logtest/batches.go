package logtest

import (
	"encoding/binary"
	"fmt"
	"io"

	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka/records"
)

// Batches returns the record batches of partition 0 of a topic, markers included, as any reader of the topic gets them:
// offsets, attributes, epochs of the leader and of the producer. conn is a connection to the partition's leader.
func Batches(conn io.ReadWriter, topic string) (all []records.BatchHeader, err error) {
	request := kmsg.NewPtrFetchRequest()
	request.Version, request.MaxBytes = 11, 1<<20
	of, partition := kmsg.NewFetchRequestTopic(), kmsg.NewFetchRequestTopicPartition()
	of.Topic, partition.PartitionMaxBytes = topic, 1<<20
	of.Partitions = append(of.Partitions, partition)
	request.Topics = append(request.Topics, of)
	if _, err := conn.Write(kmsg.NewRequestFormatter().AppendRequest(nil, request, 1)); err != nil {
		return nil, err
	}
	var head [8]byte // length and correlation id
	if _, err := io.ReadFull(conn, head[:]); err != nil {
		return nil, err
	}
	answer := make([]byte, binary.BigEndian.Uint32(head[:])-4)
	if _, err := io.ReadFull(conn, answer); err != nil {
		return nil, err
	}
	response := new(kmsg.FetchResponse)
	response.Version = request.Version
	if err := response.ReadFrom(answer); err != nil {
		return nil, err
	}
	for rest := response.Topics[0].Partitions[0].RecordBatches; len(rest) > 0; {
		h, err := records.ParseHeader(rest, false)
		if err != nil {
			return nil, err
		}
		all = append(all, h)
		rest = rest[h.Length:]
	}
	return all, nil
}

// BatchLine returns what readers of a topic see of a batch.
func BatchLine(h records.BatchHeader) string {
	return fmt.Sprintf("%d to %d, attributes %x, leader epoch %d, producer epoch %d, sequence %d",
		h.Base, h.Next(), h.Attributes, h.LeaderEpoch, h.ProducerEpoch, h.Sequence)
}
