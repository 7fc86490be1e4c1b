package pipeline

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
)

// batchAt returns a Batch of one record, at offset.
func batchAt(offset int64) fetched {
	return fetched{Batch: &fetch.Batch{
		From: offset, Next: offset + 1, LeaderEpoch: 3,
		Records: []records.Record{{Public: records.Public{Offset: offset, LeaderEpoch: 3}, Value: []byte(`{"cost":[1]}`)}},
	}}
}

// TestDecodingAheadFetchesNoFurther checks that with a decoder the fetcher reads no further than without one:
// batchesAhead Batches before the computer asks for any. Batches must come in order, decoded until work ends, and none
// may be lost when work ends.
func TestDecodingAheadFetchesNoFurther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ahead, err := openStream(t).NewAhead()
		if err != nil {
			t.Fatal(err)
		}
		work, stop := context.WithCancel(t.Context())
		read, batches := decodeAhead(work, new(sync.WaitGroup), ahead)
		sent := int64(0)
		fill := func() {
			for {
				synctest.Wait()
				select {
				case read <- batchAt(sent):
					sent++
				default:
					return
				}
			}
		}
		fill()
		if sent != batchesAhead {
			t.Errorf("%d Batches are taken before one is asked for, want %d", sent, batchesAhead)
		}
		got := ""
		take := func(b fetched) {
			got += fmt.Sprintf("%d %t; ", b.From, b.events != nil)
			b.Release()
		}
		take(<-batches)
		fill()
		stop()
		take(<-batches)
		fill()
		close(read)
		for b := range batches {
			take(b)
		}
		if want := "0 true; 1 true; 2 true; 3 false; "; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}
