package state

import "slices"

// Ordered is where the stream of a whole topic stands: in the log that orders the topic's partitions, and in each of
// them. It is public. With the order record at Next it says what follows, without any record before that one.
type Ordered struct {
	Log         [16]byte      // UUID of the topic that holds the order log
	Next        int64         // offset of the order record in progress
	LeaderEpoch int32         // of the last batch of the order log that was read, or −1
	Parts       []OrderedPart // those of which something was ordered, by partition, ascending
}

// OrderedPart is where the stream stands in one partition of its input.
type OrderedPart struct {
	Partition   int32
	Next        int64 // next input offset to process
	LeaderEpoch int32 // of the last record batch met, or −1
	Ordered     int32 // the greatest leader epoch of an entry that counted, or −1
}

// Clone returns a copy that shares nothing; nil for nil.
func (o *Ordered) Clone() *Ordered {
	if o == nil {
		return nil
	}
	c := *o
	c.Parts = slices.Clone(o.Parts)
	return &c
}

// Part returns a partition's place for reading; ok is false where nothing of it was ordered yet.
func (o *Ordered) Part(partition int32) (part OrderedPart, ok bool) {
	i, ok := o.find(partition)
	if !ok {
		return OrderedPart{Partition: partition, LeaderEpoch: -1, Ordered: -1}, false
	}
	return o.Parts[i], true
}

// Set replaces a partition's place.
func (o *Ordered) Set(part OrderedPart) {
	i, ok := o.find(part.Partition)
	if !ok {
		o.Parts = slices.Insert(o.Parts, i, part)
		return
	}
	o.Parts[i] = part
}

func (o *Ordered) find(partition int32) (int, bool) {
	return slices.BinarySearchFunc(o.Parts, partition, func(p OrderedPart, partition int32) int {
		return int(p.Partition) - int(partition)
	})
}
