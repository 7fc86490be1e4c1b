//go:build kafka

package produce_test

import (
	"context"
	"testing"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/brokertest"
)

// TestSettleEndsWhatACoordinatorForgot uses a transaction that stays open when a new producer takes its id over. Settle
// must end it, together with its group offset, although Settle itself commits no offset.
func TestSettleEndsWhatACoordinatorForgot(t *testing.T) {
	addr := brokertest.Real(t)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	c := brokertest.Client(t, addr, kafka.Config{})
	name := "settle-" + time.Now().UTC().Format("150405.000000000")
	parts := []kafka.TopicPartition{{Topic: name + "-a"}, {Topic: name + "-b"}}
	list := map[kafka.TopicPartition]records.Record{}
	for _, tp := range parts {
		check(topics.Create(ctx, c, tp.Topic, 1, 1, nil))
		list[tp] = records.Record{Value: []byte("x")}
	}
	check(group.AlterOffset(ctx, c, name, parts[0].Topic, 0, 5))
	check(pipetest.Forgotten{
		TransactionalID: name, Records: list, Group: name, Input: parts[0].Topic,
		Offset: 9,
	}.Leave(ctx, addr, c))

	p, err := produce.New(ctx, c, name, time.Minute)
	check(err)
	for _, tp := range parts {
		short, end := context.WithTimeout(ctx, 2*time.Second)
		if b, err := topics.StableEnd(short, c, tp.Topic, 0); err == nil {
			t.Errorf("%s: bounds %+v: the take-over alone ended the transaction; this test shows nothing", tp.Topic, b)
		}
		end()
	}
	short, end := context.WithTimeout(ctx, 2*time.Second)
	if offset, err := group.CommittedOffset(short, c, name, parts[0].Topic, 0); err == nil {
		t.Errorf("offset %d: the take-over alone ended the transaction", offset)
	}
	end()

	check(p.Settle(ctx, parts, name))
	for _, tp := range parts {
		if b, err := topics.StableEnd(ctx, c, tp.Topic, 0); err != nil || b.Stable != b.High {
			t.Errorf("%s: bounds %+v, %v", tp.Topic, b, err)
		}
	}
	if offset, err := group.CommittedOffset(ctx, c, name, parts[0].Topic, 0); err != nil || offset != 5 {
		t.Errorf("offset %d, %v, want 5", offset, err)
	}
}
