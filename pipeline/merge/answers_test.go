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

// TestReaderFetchesOnAfterTheLastBatchOfAnAnswer checks that the Reader continues to fetch when a Batch ends with the
// last complete batch of an answer, because records may follow.
func TestReaderFetchesOnAfterTheLastBatchOfAnAnswer(t *testing.T) {
	t.Parallel()
	e := newEnv(t, 1, nil)
	for range 12 {
		e.send(0, records.Zstd, strings.Repeat("x", 1<<20), "last") // so large that it closes a Batch
	}
	e.order(e.log, order.Entry{Partition: 0, End: e.end(0)})
	model := e.model()
	w := &walk{at: e.first()}
	r := merge.NewReader(e.client, names, e.log, e.start, w.at, fetch.Options{
		MaxWait: 20 * time.Millisecond, MaxBytes: 1000, // so small that an answer has several batches
	})
	defer r.Close()
	w.end(e, r, model)
}
