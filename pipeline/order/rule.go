package order

import "oriel/state"

// Range is what an entry that counts adds to the order: offsets of one partition.
type Range struct {
	Partition int32
	From, To  int64
	Epoch     int32
}

// Place is where a vector stands in a partition. One that it does not list stands where the stream starts: at start's
// offset, or at 0 if it was added to the input later.
func Place(at, start *state.Ordered, partition int32) state.OrderedPart {
	part, listed := at.Part(partition)
	if !listed {
		first, _ := start.Part(partition)
		part.Next = first.Next
	}
	return part
}

// Ranges appends to dst what a record adds to the order. The vector at holds all that earlier records have added; it
// may hold a part of what this one adds, and then the rest of that is returned. An entry counts if no entry of a later
// epoch of its partition has counted, and none with its end or a greater one. All others are void for every reader,
// because which ones count follows from the records before alone.
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
