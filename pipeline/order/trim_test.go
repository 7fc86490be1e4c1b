package order_test

import (
	"testing"
	"time"

	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/order"
)

// TestTrimKeepsNeededRecords checks that Trim keeps records for the committed state, for events that the input still
// has, and the last record that counts in front of these.
func TestTrimKeepsNeededRecords(t *testing.T) {
	t.Parallel()
	s := newSequenced(t, newEnv(t))
	for p := range int32(3) {
		s.events(p, 10)
	}
	s.put(s.record(), s.record(order.Entry{Partition: 0, End: 4}))
	s.put(s.record(order.Entry{Partition: 0, End: 5}, order.Entry{Partition: 1, End: 5}), []byte("no order record"))
	s.put(s.record(order.Entry{Partition: 1, End: 6}), s.record(order.Entry{Partition: 2, End: 6}))
	s.put(s.log.Append(nil, order.Record{Slot: time.Now().Unix() + 60})) // void: its slot has not ended
	trimmer := &order.Trimmer{Client: s.client, Log: s.log, Order: s.topic, Input: s.input}
	for _, step := range []struct {
		name      string
		partition int32
		before    int64 // input records below this offset are deleted
		committed int64
		want      int64
	}{
		{"all events are there", 0, 0, 6, 0},
		{"half of a record's events are there", 0, 3, 6, 0},
		{"a record's events have gone", 0, 4, 6, 1},
		{"one partition of two has gone", 0, 9, 6, 1},
		{"both partitions have gone", 1, 9, 3, 2},
		{"the committed state stands there", 2, 9, 3, 2},
		{"nothing else", 2, 9, 7, 5},
	} {
		if err := topics.DeleteRecords(t.Context(), s.client, s.input.Name, step.partition, step.before); err != nil {
			t.Fatal(err)
		}
		start, err := trimmer.Trim(t.Context(), step.committed)
		if err != nil {
			t.Fatal(err)
		}
		bounds, err := topics.BoundsOf(t.Context(), s.client, s.topic.Name, 0)
		if err != nil || bounds.Start != step.want || start != step.want {
			t.Errorf("%s: the log starts at %d, Trim says %d, %v, want %d", step.name, bounds.Start, start, err, step.want)
		}
	}
}
