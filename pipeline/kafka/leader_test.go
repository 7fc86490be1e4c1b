package kafka_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/simtest"
)

// TestLeaderMovesLoseNothing moves the leader before every transaction. Without an immediate lookup, each move would
// cost seconds, until the cached layout expires.
func TestLeaderMovesLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broker := simtest.NewWith(t, simtest.Options{Brokers: 3})
		c := broker.Client()
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
		began := time.Now()
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
		if took := time.Since(began); took > 5*time.Second {
			t.Errorf("12 moves took %v", took)
		}
	})
}
