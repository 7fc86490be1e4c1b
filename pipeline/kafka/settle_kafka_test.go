//go:build kafka

package kafka_test

import (
	"context"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	kafkago "github.com/segmentio/kafka-go"

	"oriel/pipeline/kafka"
)

// TestSettleEndsWhatACoordinatorForgot: records and an offset stand in a transaction that the coordinator knows nothing of, as
// after a crash between EndTxn and its markers. Taking the id over leaves them open; Settle ends them. A broker that does not
// ask the coordinator about each batch lets such a transaction be made.
func TestSettleEndsWhatACoordinatorForgot(t *testing.T) {
	addr := os.Getenv("ORIEL_TEST_BROKERS")
	if addr == "" {
		t.Fatal("ORIEL_TEST_BROKERS is not set: the build tag kafka needs a broker")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	verification(t, addr, "false")
	defer verification(t, addr, "true")
	c, err := kafka.New(kafka.Config{Brokers: strings.Split(addr, ",")})
	if err != nil {
		t.Fatal(err)
	}
	name := "settle-" + time.Now().UTC().Format("150405.000000000")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	parts := []kafka.TopicPartition{{Topic: name + "-a"}, {Topic: name + "-b"}}
	for _, tp := range parts {
		check(c.CreateTopic(ctx, tp.Topic, 1, 1, nil))
	}
	check(c.AlterOffset(ctx, name, parts[0].Topic, 0, 5))
	p, err := c.NewProducer(ctx, name, time.Minute)
	check(err)
	id, epoch := p.Identity()
	for _, tp := range parts {
		var b kafka.Builder
		b.Append(nil, []byte("x"), nil, time.Now().UnixMilli())
		_, err := c.Send(ctx, name, tp.Topic, 0, &b, kafka.Stamp{ProducerID: id, Epoch: epoch, Transactional: true})
		check(err)
	}
	raw := &kafkago.Client{Addr: kafkago.TCP(strings.Split(addr, ",")...)}
	res, err := raw.TxnOffsetCommit(ctx, &kafkago.TxnOffsetCommitRequest{
		TransactionalID: name, GroupID: name, ProducerID: int(id), ProducerEpoch: int(epoch), GenerationID: -1,
		Topics: map[string][]kafkago.TxnOffsetCommit{parts[0].Topic: {{Offset: 9}}},
	})
	check(err)
	check(res.Topics[parts[0].Topic][0].Error)

	p, err = c.NewProducer(ctx, name, time.Minute)
	check(err)
	for _, tp := range parts {
		short, end := context.WithTimeout(ctx, 2*time.Second)
		if b, err := c.StableEnd(short, tp.Topic, 0); err == nil {
			t.Errorf("%s: bounds %+v: the take-over alone ended the transaction; this test shows nothing", tp.Topic, b)
		}
		end()
	}
	short, end := context.WithTimeout(ctx, 2*time.Second)
	if offset, err := c.CommittedOffset(short, name, parts[0].Topic, 0); err == nil {
		t.Errorf("offset %d: the take-over alone ended the transaction", offset)
	}
	end()

	check(p.Settle(ctx, parts, name))
	for _, tp := range parts {
		if b, err := c.StableEnd(ctx, tp.Topic, 0); err != nil || b.Stable != b.High {
			t.Errorf("%s: bounds %+v, %v", tp.Topic, b, err)
		}
	}
	if offset, err := c.CommittedOffset(ctx, name, parts[0].Topic, 0); err != nil || offset != 5 {
		t.Errorf("offset %d, %v, want 5", offset, err)
	}
}

// verification says whether the brokers ask the coordinator about each batch of a transaction.
func verification(t *testing.T, addr, enabled string) {
	t.Helper()
	raw := &kafkago.Client{Addr: kafkago.TCP(strings.Split(addr, ",")...)}
	cluster, err := raw.Metadata(context.Background(), &kafkago.MetadataRequest{Topics: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, broker := range cluster.Brokers {
		res, err := raw.IncrementalAlterConfigs(context.Background(), &kafkago.IncrementalAlterConfigsRequest{
			Resources: []kafkago.IncrementalAlterConfigsRequestResource{{
				ResourceType: kafkago.ResourceTypeBroker, ResourceName: strconv.Itoa(broker.ID),
				Configs: []kafkago.IncrementalAlterConfigsRequestConfig{{
					Name: "transaction.partition.verification.enable", Value: enabled, ConfigOperation: kafkago.ConfigOperationSet,
				}},
			}},
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := res.Resources[0].Error; err != nil {
			t.Fatal(err)
		}
	}
	time.Sleep(500 * time.Millisecond) // until the broker has heard of it
}
