package pipeline

import (
	"context"
	"sync"

	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/streams"
)

// fetched is a Batch on its way to the computer, with what its records say if that was decoded ahead.
type fetched struct {
	*fetch.Batch
	events *streams.Events // nil: the walk decodes
}

// Release gives back the memory of the Batch and of its events.
func (f fetched) Release() {
	f.Batch.Release()
	if f.events != nil {
		f.events.Release()
	}
}

// batchesAhead is how many Batches may wait for the computer, beside the one that the fetcher hands on.
const batchesAhead = 2

// decodeAhead decodes what was fetched while the computer takes the Batches before. What goes into read comes out of
// decoded, in the same order. The decoder holds one of the batchesAhead, so that as many are fetched as without it.
// Once work has ended, Batches are handed on without decoding. The decoder is one of working, and ends when read is
// closed and decoded is empty.
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
