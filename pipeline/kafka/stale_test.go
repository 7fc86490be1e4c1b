package kafka_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/simtest"
)

// scripted is a cluster of three brokers whose answers a test may replace, with a topic of one partition, whose leader
// has changed: it has one record of each of two leader epochs. It must be called in a bubble of testing/synctest.
func scripted(t *testing.T) (context.Context, *kfake.Cluster, *kafka.Client) {
	t.Helper()
	cluster, c := simtest.Cluster(t, kfake.NumBrokers(3), kfake.SeedTopics(1, "t"))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	for _, node := range []int32{1, 2} {
		if err := cluster.MoveTopicPartition("t", 0, node); err != nil {
			t.Fatal(err)
		}
		p, err := produce.New(ctx, c, "", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		var b records.Builder
		b.Append(nil, []byte("v"), nil, time.Now().UnixMilli())
		if _, err := p.Produce(ctx, "t", 0, &b); err != nil {
			t.Fatal(err)
		}
	}
	return ctx, cluster, c
}

// epochsAsked are the leader epochs that a request names.
func epochsAsked(request kmsg.Request) (epochs []int32) {
	switch r := request.(type) {
	case *kmsg.FetchRequest:
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				epochs = append(epochs, p.CurrentLeaderEpoch)
			}
		}
	case *kmsg.ListOffsetsRequest:
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				epochs = append(epochs, p.CurrentLeaderEpoch)
			}
		}
	case *kmsg.OffsetForLeaderEpochRequest:
		for _, topic := range r.Topics {
			for _, p := range topic.Partitions {
				epochs = append(epochs, p.CurrentLeaderEpoch)
			}
		}
	}
	return epochs
}

// TestRequestsNameTheLeadersEpoch checks that requests name a leader epoch. A replaced leader that does not know of its
// successor would answer a request for any epoch. A broker with an older or newer epoch must refuse the request, and
// the client must send it again with a fresh layout.
func TestRequestsNameTheLeadersEpoch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cluster, c := scripted(t)
		var mu sync.Mutex
		asked := map[int16][]int32{}
		for _, key := range []int16{1, 2, 23} {
			cluster.ControlKey(key, func(r kmsg.Request) (kmsg.Response, error, bool) {
				cluster.KeepControl()
				mu.Lock()
				defer mu.Unlock()
				asked[key] = append(asked[key], epochsAsked(r)...)
				return nil, nil, false
			})
		}
		r := fetch.NewReader(c, "t", 0, 0, fetch.Options{MaxWait: time.Millisecond})
		epoch := cluster.PartitionInfo("t", 0).Epoch
		for round := range 2 {
			if _, err := r.Fetch(ctx); err != nil {
				t.Fatal(err)
			}
			if _, err := topics.BoundsOf(ctx, c, "t", 0); err != nil {
				t.Fatal(err)
			}
			if _, err := topics.EpochEnd(ctx, c, "t", 0, 0); err != nil {
				t.Fatal(err)
			}
			mu.Lock()
			for key, name := range map[int16]string{1: "Fetch", 2: "ListOffsets", 23: "OffsetForLeaderEpoch"} {
				if n := len(asked[key]); n == 0 || asked[key][n-1] != epoch {
					t.Errorf("round %d: %s asked leaders of epochs %v, want %d at last", round, name, asked[key], epoch)
				}
				asked[key] = nil
			}
			mu.Unlock()
			if err := cluster.MoveTopicPartition("t", 0, int32(round)); err != nil {
				t.Fatal(err)
			}
			epoch++
		}
	})
}

// TestStaleLeadersAnswerIsNoLoss checks that the answer of a stopped leader that runs again does not count as a
// loss: it answers from a shorter log until it learns of its successor.
func TestStaleLeadersAnswerIsNoLoss(t *testing.T) {
	for name, answer := range map[string]func(*kmsg.FetchResponseTopicPartition){
		"offset out of range": func(p *kmsg.FetchResponseTopicPartition) { p.ErrorCode = kerr.OffsetOutOfRange.Code },
		"diverging epoch": func(p *kmsg.FetchResponseTopicPartition) {
			p.DivergingEpoch.Epoch,
				p.DivergingEpoch.EndOffset = 0, 0
		},
		"unknown epoch": func(p *kmsg.FetchResponseTopicPartition) { p.ErrorCode = kerr.UnknownLeaderEpoch.Code },
		"fenced epoch":  func(p *kmsg.FetchResponseTopicPartition) { p.ErrorCode = kerr.FencedLeaderEpoch.Code },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cluster, c := scripted(t)
				r := fetch.NewReader(c, "t", 0, 0, fetch.Options{MaxWait: time.Millisecond})
				first, err := r.Fetch(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if len(first.Records) != 2 {
					t.Fatalf("%d records, want 2", len(first.Records))
				}
				first.Release()
				left := 3
				cluster.ControlKey(1, func(request kmsg.Request) (kmsg.Response, error, bool) {
					cluster.KeepControl()
					if left--; left == 0 {
						cluster.DropControl()
					}
					fetch, _ := request.(*kmsg.FetchRequest)
					response, _ := fetch.ResponseKind().(*kmsg.FetchResponse)
					topic, p := kmsg.NewFetchResponseTopic(), kmsg.NewFetchResponseTopicPartition()
					answer(&p)
					topic.TopicID, topic.Partitions = fetch.Topics[0].TopicID, append(topic.Partitions, p)
					response.Topics = append(response.Topics, topic)
					return response, nil, true
				})
				again, err := r.Fetch(ctx)
				if err != nil {
					t.Fatal(err)
				}
				if left != 0 || again.From != 2 || again.High != 2 {
					t.Errorf("%d answers unheard; read from %d of a log that ends at %d", left, again.From, again.High)
				}
			})
		})
	}
}

// TestStaleLeadersTailIsNotRead checks that records which only a replaced leader has, and which were never
// acknowledged, are not returned. The client must not ask such a leader while a layout names it, and must not accept
// its batches if their epoch is older than the last epoch read.
func TestStaleLeadersTailIsNotRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cluster, c := scripted(t)
		ahead := cluster.PartitionInfo("t", 0).Epoch + 1 // the epoch of a leader that this cluster does not know
		r := fetch.NewReader(c, "t", 0, 1, fetch.Options{MaxWait: time.Millisecond, LastEpoch: &ahead})
		refused := func(what string) {
			t.Helper()
			short, cancel := context.WithTimeout(ctx, time.Second)
			defer cancel()
			if b, err := r.Fetch(short); err == nil {
				t.Fatalf("%s: %d records of epochs before the one that was read", what, len(b.Records))
			} else if kafka.Classify(err) != kafka.Retry {
				t.Fatalf("%s: given up within a second: %v", what, err)
			}
		}
		fetches := 0
		cluster.ControlKey(1, func(kmsg.Request) (kmsg.Response, error, bool) {
			cluster.KeepControl()
			fetches++
			return nil, nil, false
		})
		refused("a layout of older epochs")
		if fetches > 0 {
			t.Errorf("a leader of an older epoch was asked %d times", fetches)
		}
		if err := cluster.MoveTopicPartition("t", 0, 0); err != nil {
			t.Fatal(err)
		}
		refused("a log of older epochs")
		if fetches == 0 {
			t.Error("the leader of that epoch was not asked")
		}
	})
}
