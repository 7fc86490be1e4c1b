//go:build kafka

package kafka_test

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/pipetest"
)

// TestSettleEndsWhatACoordinatorForgot: taking the id over leaves such a transaction open; Settle ends it, the group's
// offset as well, though it commits none.
func TestSettleEndsWhatACoordinatorForgot(t *testing.T) {
	addr := os.Getenv("ORIEL_TEST_BROKERS")
	if addr == "" {
		t.Fatal("ORIEL_TEST_BROKERS is not set: the build tag kafka needs a broker")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c, err := kafka.New(kafka.Config{Brokers: strings.Split(addr, ",")})
	check(err)
	name := "settle-" + time.Now().UTC().Format("150405.000000000")
	parts := []kafka.TopicPartition{{Topic: name + "-a"}, {Topic: name + "-b"}}
	records := map[kafka.TopicPartition]kafka.Record{}
	for _, tp := range parts {
		check(c.CreateTopic(ctx, tp.Topic, 1, 1, nil))
		records[tp] = kafka.Record{Value: []byte("x")}
	}
	check(c.AlterOffset(ctx, name, parts[0].Topic, 0, 5))
	check(pipetest.Forgotten{
		TransactionalID: name, Records: records, Group: name, Input: parts[0].Topic,
		Offset: 9,
	}.Leave(ctx, addr, c))

	p, err := c.NewProducer(ctx, name, time.Minute)
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
