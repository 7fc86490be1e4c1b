package merge_test

import (
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/merge"
	"oriel/pipeline/order"
)

// TestReaderFetchesOnAfterTheLastBatchOfAnAnswer checks that the Reader fetches on when a Batch ends where the last
// whole batch of an answer does, because records may follow.
func TestReaderFetchesOnAfterTheLastBatchOfAnAnswer(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 1, nil)
	for range 12 {
		e.send(0, records.Zstd, strings.Repeat("x", 1<<20), "last") // closes a Batch by its size
	}
	e.order(e.log, order.Entry{Partition: 0, End: e.end(0)})
	model := e.model()
	w := &walk{at: e.first()}
	r := merge.NewReader(e.client, names, e.log, e.start, w.at, fetch.Options{
		MaxWait: 20 * time.Millisecond, MaxBytes: 1000, // small enough for several batches
	})
	defer r.Close()
	w.until(e, r, model.at.Next)
	w.same(t, model)
}
