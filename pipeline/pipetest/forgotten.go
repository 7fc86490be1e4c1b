package pipetest

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
)

// Forgotten is a transaction that a real broker's coordinator knows nothing of, as after a crash between its decision
// and its markers: records and an offset that are open, and that nothing will end.
type Forgotten struct {
	TransactionalID string
	Records         map[kafka.TopicPartition]records.Record
	Group, Input    string // the group's offset for partition 0 of the input
	Offset          int64
}

// Leave makes it on the brokers at addr, taking the transactional id over. Brokers that ask the coordinator about each
// batch would not take it, so they are told not to meanwhile.
func (f Forgotten) Leave(ctx context.Context, addr string, c *kafka.Client) (err error) {
	raw := &kafkago.Client{Addr: kafkago.TCP(strings.Split(addr, ",")...)}
	if err := verification(ctx, raw, false); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, verification(ctx, raw, true)) }()
	p, err := produce.New(ctx, c, f.TransactionalID, time.Minute)
	if err != nil {
		return err
	}
	id, epoch := p.Identity()
	for tp, r := range f.Records {
		var b records.Builder
		b.Append(r.Key, r.Value, r.Headers.List(), time.Now().UnixMilli())
		stamp := records.Stamp{ProducerID: id, Epoch: epoch, Transactional: true}
		if _, err := produce.Send(ctx, c, f.TransactionalID, tp.Topic, tp.Partition, &b, stamp); err != nil {
			return err
		}
	}
	res, err := raw.TxnOffsetCommit(ctx, &kafkago.TxnOffsetCommitRequest{
		TransactionalID: f.TransactionalID, GroupID: f.Group, ProducerID: int(id), ProducerEpoch: int(epoch),
		GenerationID: -1,
		Topics:       map[string][]kafkago.TxnOffsetCommit{f.Input: {{Offset: f.Offset}}},
	})
	if err != nil {
		return err
	}
	return res.Topics[f.Input][0].Error
}

// verification says whether brokers ask the coordinator about each batch of a transaction. They hear of it within
// moments.
func verification(ctx context.Context, raw *kafkago.Client, enabled bool) error {
	cluster, err := raw.Metadata(ctx, &kafkago.MetadataRequest{Topics: []string{}})
	if err != nil {
		return err
	}
	for _, broker := range cluster.Brokers {
		res, err := raw.IncrementalAlterConfigs(ctx, &kafkago.IncrementalAlterConfigsRequest{
			Resources: []kafkago.IncrementalAlterConfigsRequestResource{{
				ResourceType: kafkago.ResourceTypeBroker, ResourceName: strconv.Itoa(broker.ID),
				Configs: []kafkago.IncrementalAlterConfigsRequestConfig{{
					Name: "transaction.partition.verification.enable", Value: strconv.FormatBool(enabled),
					ConfigOperation: kafkago.ConfigOperationSet,
				}},
			}},
		})
		if err == nil {
			err = res.Resources[0].Error
		}
		if err != nil {
			return fmt.Errorf("pipetest: broker %d: %w", broker.ID, err)
		}
	}
	time.Sleep(500 * time.Millisecond)
	return nil
}
