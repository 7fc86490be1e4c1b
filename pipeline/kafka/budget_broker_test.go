package kafka_test

import (
	"sync"
	"testing"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/pipetest"
)

// TestReadersGetOnWithTheLeastBudget: batches of every codec, small ones and bombs, in partitions that share a single
// byte.
func TestReadersGetOnWithTheLeastBudget(t *testing.T) {
	c, err := kafka.New(kafka.Config{Brokers: []string{pipetest.Embedded(t)}, Budget: kafka.NewBudget(1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	const partitions, rounds = 6, 4
	if err := c.CreateTopic(t.Context(), "t", partitions, 1, nil); err != nil {
		t.Fatal(err)
	}
	sizes := []int{10, 300_000, 3 << 20, 20 << 20}
	var readers sync.WaitGroup
	for p := range int32(partitions) {
		producer, err := c.NewProducer(t.Context(), "", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rounds * len(sizes) {
			var b kafka.Builder
			if size := sizes[i%len(sizes)]; size > 1000 {
				b.Compress([]kafka.Codec{kafka.Gzip, kafka.LZ4, kafka.Zstd}[i%3])
			}
			b.Append(nil, make([]byte, sizes[i%len(sizes)]), nil, 1)
			if _, err := producer.Produce(t.Context(), "t", p, &b); err != nil {
				t.Fatal(err)
			}
		}
		readers.Go(func() {
			r := c.NewReader("t", p, 0, kafka.ReaderOptions{MaxWait: 10 * time.Millisecond})
			defer r.Close()
			for next := 0; next < rounds*len(sizes); {
				batch, err := r.Fetch(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				for _, record := range batch.Records {
					if len(record.Value) != sizes[next%len(sizes)] || record.Unreadable {
						t.Errorf("record %d: %d bytes", next, len(record.Value))
					}
					next++
				}
				batch.Release()
			}
		})
	}
	readers.Wait()
}
