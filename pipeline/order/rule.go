package order

import "oriel/state"

// Range is the range of offsets of one partition that an entry adds to the order.
type Range struct {
	Partition int32
	From, To  int64
	Epoch     int32
}

// Place returns the position of a vector in a partition. For a partition that the vector does not list it is the
// stream's start: the offset in start, or 0 if the partition was added to the input later.
func Place(at, start *state.Ordered, partition int32) state.OrderedPart {
	part, listed := at.Part(partition)
	if !listed {
		first, _ := start.Part(partition)
		part.Next = first.Next
	}
	return part
}

// Ranges appends to dst the ranges that a record adds to the order. The vector at covers all ranges of earlier records.
// If it also covers a part of this record, Ranges returns the remaining ranges. An entry counts if no entry of its
// partition with a later epoch has counted, and none with the same or a larger end. All other entries are void. Because
// this rule depends only on earlier records, all readers agree.
func Ranges(dst []Range, at, start *state.Ordered, entries []Entry) []Range {
	for _, e := range entries {
		part := Place(at, start, e.Partition)
		if e.Epoch >= part.Ordered && e.End > part.Next {
			dst = append(dst, Range{Partition: e.Partition, From: part.Next, To: e.End, Epoch: e.Epoch})
		}
	}
	return dst
}

// Pass moves a vector to the end of a range.
func Pass(at *state.Ordered, r Range) {
	part, _ := at.Part(r.Partition)
	part.Next, part.Ordered = r.To, r.Epoch
	at.Set(part)
}
