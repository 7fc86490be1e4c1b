package pipeline

import (
	"context"
	"sync"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/streams"
)

// fetched is a Batch that the fetcher has read and the computer has not taken yet. Its events may be decoded already.
type fetched struct {
	*fetch.Batch
	events *streams.Events // decodes events before the walk reaches them; nil: the walk decodes them itself
}

// Release gives back the memory of the Batch and of its events.
func (f fetched) Release() {
	f.Batch.Release()
	if f.events != nil {
		f.events.Release()
	}
}

// batchesAhead is how many Batches may wait for the computer, besides the Batch that the fetcher is about to hand over.
const batchesAhead = 2

// decodeAhead starts a decoder that decodes Batches while the computer takes earlier ones. Batches sent to read come
// out of decoded in the same order. The Batch in the decoder is one of the batchesAhead, so the fetcher reads no
// further than without a decoder. After work has ended, Batches pass through undecoded. The decoder's goroutine is
// counted in working, and ends when read is closed and decoded has been drained.
func decodeAhead(work context.Context, working *sync.WaitGroup, a *streams.Ahead) (read, decoded chan fetched) {
	read, decoded = make(chan fetched), make(chan fetched, batchesAhead-1)
	working.Go(func() {
		defer close(decoded)
		for batch := range read {
			if work.Err() == nil {
				batch.events = a.Decode(batch.Batch)
			}
			decoded <- batch
		}
	})
	return read, decoded
}
