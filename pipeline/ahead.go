package pipeline

import (
	"context"

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

// decodeAhead decodes what was fetched while the computer takes the Batches before, and hands it on in the same order.
// It holds one of the batchesAhead, and decoded the others, so that as many are fetched as without it. Once work has
// ended, it hands on without decoding. It ends when batches closes.
func decodeAhead(work context.Context, a *streams.Ahead, batches <-chan fetched, decoded chan<- fetched) {
	defer close(decoded)
	for batch := range batches {
		if work.Err() == nil {
			batch.events = a.Decode(batch.Batch)
		}
		decoded <- batch
	}
}
