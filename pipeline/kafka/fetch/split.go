package fetch

import (
	"cmp"
	"slices"

	"oriel/pipeline/kafka/records"
)

// Split returns the part of b before offset at, which must be between From and Next, and leaves the other part in b.
// was is the leader epoch of the record before the Batch. Both parts hold all memory that records of the Batch refer
// to.
func (b *Batch) Split(at int64, was int32) *Batch {
	n, _ := slices.BinarySearchFunc(b.Records, at, func(r records.Record, at int64) int {
		return cmp.Compare(r.Offset, at)
	})
	epochs, _ := slices.BinarySearchFunc(b.Epochs, at, func(e Epoch, at int64) int { return cmp.Compare(e.Base, at) })
	head, _ := batches.Get().(*Batch)
	head.Records = append(head.Records, b.Records[:n]...)
	head.Epochs = append(head.Epochs, b.Epochs[:epochs]...)
	head.Partition, head.From, head.Next = b.Partition, b.From, at
	head.Start, head.Stable, head.High = b.Start, b.Stable, b.High
	head.LeaderEpoch = b.EpochAt(at, was)
	switch {
	case n == len(b.Records):
		head.held, b.held = b.held, head.held
	case n > 0:
		for _, buf := range b.held {
			head.hold(buf)
		}
	}
	b.From = at
	if b.whole == nil {
		b.whole = b.Records
	}
	b.Records = b.Records[n:]
	b.Epochs = slices.Delete(b.Epochs, 0, epochs)
	return head
}
