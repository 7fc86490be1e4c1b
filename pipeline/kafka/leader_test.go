package kafka_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
)

// TestLeaderMovesLoseNothing moves the leader before every transaction. Without a fresh lookup at once, each move would
// cost the age of the cached layout: seconds.
func TestLeaderMovesLoseNothing(t *testing.T) {
	t.Parallel()
	broker, err := embedded.Start(embedded.Options{Dir: t.TempDir(), Brokers: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer broker.Close()
	c, err := kafka.New(kafka.Config{Brokers: strings.Split(broker.Addr(), ",")})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := topics.Create(ctx, c, "t", 1, 1, nil); err != nil {
		t.Fatal(err)
	}
	p, err := produce.New(ctx, c, "txn", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	r := fetch.NewReader(c, "t", 0, 0, fetch.Options{MaxWait: 20 * time.Millisecond})
	var b records.Builder
	for i := range 6 {
		if err := broker.MoveLeader("t", 0, int32(i%3)); err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprint("v", i)
		b.Reset()
		b.Append(nil, []byte(want), nil, time.Now().UnixMilli())
		if err := p.Begin(ctx, []kafka.TopicPartition{{Topic: "t"}}); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Produce(ctx, "t", 0, &b); err != nil {
			t.Fatal(err)
		}
		if err := p.End(ctx, true); err != nil {
			t.Fatal(err)
		}
		if err := broker.MoveLeader("t", 0, int32((i+1)%3)); err != nil {
			t.Fatal(err)
		}
		for got := ""; got == ""; {
			batch, err := r.Fetch(ctx)
			if err != nil {
				t.Fatal(err)
			}
			for _, record := range batch.Records {
				got = string(record.Value)
			}
			batch.Release()
			if got != "" && got != want {
				t.Fatalf("read %s, want %s", got, want)
			}
		}
	}
}
