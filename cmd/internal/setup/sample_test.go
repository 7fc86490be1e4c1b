package setup

import (
	"fmt"
	"math"
	"testing"
	"time"

	"oriel/pipeline/embedded/embeddedtest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
)

// TestSampleOfATopic checks that a sample has the newest records of each partition, and the rate that follows from the
// times of all records. A partition that was loaded within a minute must give no rate.
func TestSampleOfATopic(t *testing.T) {
	client, err := kafka.New(kafka.Config{Brokers: []string{embeddedtest.Start(t)}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if err := topics.Create(t.Context(), client, "orders", 3, 1, nil); err != nil {
		t.Fatal(err)
	}
	cluster, err := topics.Describe(t.Context(), client, "orders")
	if err != nil {
		t.Fatal(err)
	}
	producer, err := produce.New(t.Context(), client, "", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	start := time.Now().Add(-time.Hour)
	for p, apart := range []time.Duration{10 * time.Second, time.Second, 0} {
		if apart == 0 {
			continue // an empty partition
		}
		var b records.Builder
		for i := range 40 {
			value := fmt.Appendf(nil, `{"n":%d}`, i)
			if i == 39 {
				value = nil
			}
			b.Append(nil, value, nil, start.Add(apart*time.Duration(i)).UnixMilli())
		}
		if _, err := producer.Produce(t.Context(), "orders", int32(p), &b); err != nil {
			t.Fatal(err)
		}
	}
	s, err := ReadTopic(t.Context(), client, cluster.Topics["orders"], 30)
	if err != nil || s.Partitions != 3 || s.Replicas != 1 || len(s.Records) != 18 || string(s.Records[0]) != `{"n":30}` {
		t.Errorf("%d records of %d partitions, %v", len(s.Records), s.Partitions, err)
	}
	if want := 40 / 390.0; math.Abs(s.Rate-want) > 1e-9 {
		t.Errorf("%g a second, want %g", s.Rate, want)
	}
}
