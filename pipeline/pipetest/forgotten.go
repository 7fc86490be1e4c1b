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

// Forgotten is a transaction that a real broker's coordinator does not know, as after a crash between the coordinator's
// decision and its markers. It leaves open records and an open offset in the logs, which no coordinator will ever
// complete.
type Forgotten struct {
	TransactionalID string
	Records         map[kafka.TopicPartition]records.Record
	Group, Input    string // group and topic of the offset, for partition 0
	Offset          int64
}

// Leave makes the transaction on the brokers at addr; for this it takes over the transactional id. Brokers that verify
// each batch with the coordinator would refuse it, so Leave turns this verification off while it runs.
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

// verification turns on or off that brokers verify each batch of a transaction with the coordinator. The setting takes
// effect shortly afterwards.
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
