package order

import "oriel/state"

// Range is the addition of a counting entry to the order: offsets of one partition.
type Range struct {
	Partition int32
	From, To  int64
	Epoch     int32
}

// Place returns the place of a vector in a partition. A partition that the vector does not list stands where the stream
// starts: at start's offset, or at 0 if it was added to the input later.
func Place(at, start *state.Ordered, partition int32) state.OrderedPart {
	part, listed := at.Part(partition)
	if !listed {
		first, _ := start.Part(partition)
		part.Next = first.Next
	}
	return part
}

// Ranges appends to dst the ranges that a record adds to the order. The vector at covers all that earlier records have
// added. It may cover a part of this record; then Ranges returns the rest. An entry counts if no entry of a later epoch
// of its partition has counted, and none with its end or a greater one. All other entries are void for every reader,
// because this depends on the earlier records alone.
func Ranges(dst []Range, at, start *state.Ordered, entries []Entry) []Range {
	for _, e := range entries {
		part := Place(at, start, e.Partition)
		if e.Epoch >= part.Ordered && e.End > part.Next {
			dst = append(dst, Range{Partition: e.Partition, From: part.Next, To: e.End, Epoch: e.Epoch})
		}
	}
	return dst
}

// Pass moves a vector behind a range.
func Pass(at *state.Ordered, r Range) {
	part, _ := at.Part(r.Partition)
	part.Next, part.Ordered = r.To, r.Epoch
	at.Set(part)
}
