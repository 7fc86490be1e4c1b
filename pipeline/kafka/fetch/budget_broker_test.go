package fetch_test

import (
	"sync"
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/brokertest"
)

// TestReadersGetOnWithTheLeastBudget checks that Readers of partitions that share a budget of one byte all make
// progress, with small batches and decompression bombs of every codec.
func TestReadersGetOnWithTheLeastBudget(t *testing.T) {
	t.Parallel()
	c := brokertest.Client(t, brokertest.Embedded(t, embedded.Options{}).Addr(), kafka.Config{Budget: memory.NewBudget(1)})
	partitions, rounds := tiertest.Runs(3, 6), tiertest.Runs(2, 4)
	if err := topics.Create(t.Context(), c, "t", partitions, 1, nil); err != nil {
		t.Fatal(err)
	}
	sizes := []int{10, 300_000, 3 << 20, 20 << 20}
	var readers sync.WaitGroup
	for p := range int32(partitions) {
		producer, err := produce.New(t.Context(), c, "", time.Minute)
		if err != nil {
			t.Fatal(err)
		}
		for i := range rounds * len(sizes) {
			var b records.Builder
			if size := sizes[i%len(sizes)]; size > 1000 {
				b.Compress([]records.Codec{records.Gzip, records.LZ4, records.Zstd}[i%3])
			}
			b.Append(nil, make([]byte, sizes[i%len(sizes)]), nil, 1)
			if _, err := producer.Produce(t.Context(), "t", p, &b); err != nil {
				t.Fatal(err)
			}
		}
		readers.Go(func() {
			r := fetch.NewReader(c, "t", p, 0, fetch.Options{MaxWait: 10 * time.Millisecond})
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
