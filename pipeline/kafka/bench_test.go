package kafka_test

import (
	"context"
	"crypto/rand"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/brokertest"
)

const (
	benchPartitions = 4
	benchValue      = 200 // bytes of a record's value
	benchBatch      = 500_000
)

// benchCluster returns a client of the embedded broker, or of the brokers at ORIEL_BENCH_BROKERS.
func benchCluster(b *testing.B) *kafka.Client {
	b.Helper()
	addr := os.Getenv("ORIEL_BENCH_BROKERS")
	if addr == "" {
		addr = brokertest.Embedded(b, embedded.Options{Dir: b.TempDir()}).Addr()
	}
	return brokertest.Client(b, addr, kafka.Config{})
}

func benchTopic(b *testing.B, c *kafka.Client) string {
	b.Helper()
	name := "bench-" + strings.ToLower(rand.Text()[:10])
	if err := topics.Create(b.Context(), c, name, benchPartitions, 1, nil); err != nil {
		b.Fatal(err)
	}
	return name
}

// each runs work for all partitions in parallel.
func each(b *testing.B, work func(ctx context.Context, partition int32) error) {
	b.Helper()
	var wg sync.WaitGroup
	for p := range int32(benchPartitions) {
		wg.Go(func() {
			if err := work(b.Context(), p); err != nil {
				b.Error(err)
			}
		})
	}
	wg.Wait()
}

func send(ctx context.Context, c *kafka.Client, topic string, partition int32, count int) error {
	p, err := produce.New(ctx, c, "", time.Minute)
	if err != nil {
		return err
	}
	var batch records.Builder
	value, now := make([]byte, benchValue), time.Now().UnixMilli()
	for sent := 0; sent < count; sent += batch.Count() {
		batch.Reset()
		for i := sent; i < count && batch.Bytes() < benchBatch; i++ {
			batch.Append(nil, value, nil, now)
		}
		if _, err := p.Produce(ctx, topic, partition, &batch); err != nil {
			return err
		}
	}
	return nil
}

func perSecond(b *testing.B, records int) {
	b.ReportMetric(float64(records)/b.Elapsed().Seconds(), "records/s")
}

func BenchmarkProduce(b *testing.B) {
	c := benchCluster(b)
	topic := benchTopic(b, c)
	b.ReportAllocs()
	b.ResetTimer()
	each(b, func(ctx context.Context, p int32) error { return send(ctx, c, topic, p, b.N) })
	perSecond(b, benchPartitions*b.N)
}

func BenchmarkFetch(b *testing.B) {
	c := benchCluster(b)
	topic := benchTopic(b, c)
	each(b, func(ctx context.Context, p int32) error { return send(ctx, c, topic, p, b.N) })
	b.ReportAllocs()
	b.ResetTimer()
	each(b, func(ctx context.Context, p int32) error {
		r := fetch.NewReader(c, topic, p, 0, fetch.Options{})
		for seen := 0; seen < b.N; {
			batch, err := r.Fetch(ctx)
			if err != nil {
				return err
			}
			seen += len(batch.Records)
			batch.Release()
		}
		return nil
	})
	perSecond(b, benchPartitions*b.N)
}

// BenchmarkCopy measures the least work of a pipeline: fetch, transactional produce, offset, and a commit every 100 ms.
func BenchmarkCopy(b *testing.B) {
	c := benchCluster(b)
	in, out := benchTopic(b, c), benchTopic(b, c)
	each(b, func(ctx context.Context, p int32) error { return send(ctx, c, in, p, b.N) })
	b.ReportAllocs()
	b.ResetTimer()
	each(b, func(ctx context.Context, p int32) error { return transfer(ctx, c, in, out, p, b.N) })
	perSecond(b, benchPartitions*b.N)
}

func transfer(ctx context.Context, c *kafka.Client, in, out string, partition int32, count int) error {
	id := out + "/" + string('0'+partition)
	p, err := produce.New(ctx, c, id, time.Minute)
	if err != nil {
		return err
	}
	r := fetch.NewReader(c, in, partition, 0, fetch.Options{})
	var builder records.Builder
	for seen := 0; seen < count; {
		if err := p.Begin(ctx, []kafka.TopicPartition{{Topic: out, Partition: partition}}); err != nil {
			return err
		}
		next := int64(0)
		for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end) && seen < count; {
			batch, err := r.Fetch(ctx)
			if err != nil {
				return err
			}
			builder.Reset()
			for _, record := range batch.Records {
				builder.Append(record.Key, record.Value, nil, record.Timestamp)
				if builder.Bytes() >= benchBatch {
					if _, err := p.Produce(ctx, out, partition, &builder); err != nil {
						return err
					}
					builder.Reset()
				}
			}
			seen += len(batch.Records)
			next = batch.Next
			batch.Release()
			if builder.Count() > 0 {
				if _, err := p.Produce(ctx, out, partition, &builder); err != nil {
					return err
				}
			}
		}
		if err := p.CommitOffsets(ctx, group.Membership{Group: id, Generation: -1}, in,
			[]group.Offset{{Partition: partition, Offset: next}}); err != nil {
			return err
		}
		if err := p.End(ctx, true); err != nil {
			return err
		}
	}
	return nil
}
