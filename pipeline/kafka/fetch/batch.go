package fetch

import (
	"sync"

	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
)

// The limits of a Batch. PROOF.md of the pipeline explains why each is public.
const (
	// batchRecords bounds the number of records in a Batch, because even the smallest record takes more than a hundred
	// bytes of bookkeeping.
	batchRecords = 2 << 10

	// batchHold ends a Batch after the record batch that brings its decompressed bytes to this size.
	batchHold = 1 << 20

	// leastHold is the size that a smaller decompressed batch counts as, because its buffer has this size.
	leastHold = 4 << 10
)

// Batch is the result of one Fetch. Records and all memory they refer to are valid until Release.
type Batch struct {
	Records []records.Record

	// Partition is the partition of all Records. Shift is the difference between the offsets that the caller gets and
	// the records' own offsets: 0 for a Reader, or the distance to offsets of the merged log if several partitions are
	// read as one.
	Partition int32
	Shift     int64

	// Order is the position of the Batch in the order log; nil for a Reader of one partition.
	Order *Order

	From   int64 // start of this Fetch: Next of the previous Batch
	Next   int64 // offset after all offsets read, with records or without; a later reader starts here
	Start  int64 // first offset of the log, as of this answer
	Stable int64
	High   int64

	// LeaderEpoch is the epoch of the last record batch that this Reader has met, with records for the caller or
	// without. Before any batch it is Options.LastEpoch, or -1. A reader that continues at Next must start with it.
	LeaderEpoch int32

	// Epochs are the epochs of the record batches in this Batch, ascending and distinct, with records or without. A
	// caller that stops before Next needs them.
	Epochs []Epoch

	held  []*memory.Buffer
	whole []records.Record // after Split: all records; Records are the last of them
}

// Order is the position of a Batch in the order of a whole topic.
type Order struct {
	Record      int64 // offset of the order record that orders the Batch
	LeaderEpoch int32 // leader epoch of the batch in the order log that holds Record
	Slot        int64 // slot of the Batch
	Closes      int64 // last slot that Record closes
	End         int64 // end of the partition, from the order record or an earlier one
	Epoch       int32 // leader epoch of the end
	Done        *Done // position after Record, if the Batch is the last one that Record orders; else nil
}

// Done is the position in the order of a whole topic after an order record.
type Done struct {
	Slot  int64   // first slot of later records
	Parts []Reach // partitions that the order record names
}

// Reach is an end that an order record names.
type Reach struct {
	Partition int32
	Start     int64 // start of the stream in the partition
	End       int64
	Epoch     int32 // leader epoch of the end
}

// Epoch is the leader epoch of the record batches from an offset on.
type Epoch struct {
	Base   int64
	Leader int32
}

// enter adds the epoch of a record batch.
func (b *Batch) enter(e Epoch) {
	if n := len(b.Epochs); n == 0 || b.Epochs[n-1].Leader != e.Leader {
		b.Epochs = append(b.Epochs, e)
	}
}

// EpochAt returns the epoch of the last record before an offset of the Batch, or was if no batch of the Batch precedes
// the offset.
func (b *Batch) EpochAt(offset int64, was int32) int32 {
	for _, e := range b.Epochs {
		if e.Base < offset {
			was = e.Leader
		}
	}
	return was
}

var batches = sync.Pool{New: func() any { return new(Batch) }}

// Release frees the memory of the Batch. The Batch must not be used afterwards.
func (b *Batch) Release() {
	for _, h := range b.held {
		h.Release()
	}
	if b.whole != nil {
		b.Records = b.whole
	}
	clear(b.Records)
	clear(b.held)
	*b = Batch{Records: b.Records[:0], Epochs: b.Epochs[:0], held: b.held[:0]}
	batches.Put(b)
}

// hold keeps memory that records of the Batch refer to until Release.
func (b *Batch) hold(buf *memory.Buffer) {
	if n := len(b.held); n > 0 && b.held[n-1] == buf {
		return
	}
	buf.Retain()
	b.held = append(b.held, buf)
}
