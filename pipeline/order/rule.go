package order

import (
	"time"

	"oriel/pipeline/kafka/records"
	"oriel/state"
)

// Slot is the length of a slot. Slots are numbered from the Unix epoch, so that each step by the clock is a whole
// number of slots.
const Slot = time.Second

const slotMs = int64(Slot / time.Millisecond)

// The rule says which order records count, and which records of the input an order record orders. The merged order is
// (order record, slot, partition, offset). No number of offsets, records or bytes decides anything.
//
// An order record counts if it is signed and all of the following hold:
//
//   - Its own batch has the LogAppendTime attribute, and a time at or after the end of its slot. So a writer whose
//     clock is ahead closes nothing.
//   - Its slot is open: later than the slot of the last record that counted, or, with steps by count, not earlier.
//
// An entry orders nothing if its epoch is older than that of the partition's last entry. It does not void the record,
// because an entry is there only if its partition has a record: the presence of one would then decide when records of
// other partitions are ordered.
//
// Other entries order the records of their partitions up to the partitions' ends, as far as their slots go. A record
// whose batch has the LogAppendTime attribute is in the slot of its time, and never before the slot of the record in
// front of it, or before the open slots. A record without the attribute is in the slot of the order record. Producers'
// clocks and contents never decide.
//
// With steps by the clock (ByClock), a record of a slot after the order record's waits for a later order record, and so
// do all records after it in its partition. With steps by count nothing waits: such a record counts for the order
// record's slot. Neighbouring inputs of such a stream differ in the contents of an event and in nothing else, so an
// order record need not wait until its partitions have all records of a slot.
//
// With steps by the clock, inserting or deleting one record moves no other record to another slot or place, except in
// two cases. A broker's clock that is set back by s seconds lets the last record before it move those of the next s
// seconds in its partition. A change of the topic's type lets the last record before it move those that follow it in
// one order record.
//
// The rule depends only on the sequence of the two logs, so all readers agree.

// SlotOf returns the slot of a record of the input that an order record of slot closes orders, as far as the record
// alone decides. The caller raises it to the slot of the record in front.
func (l Log) SlotOf(r records.Public, closes int64) int64 {
	switch slot := r.Timestamp / slotMs; {
	case !r.Appended:
		return closes
	case l.ByClock:
		return slot
	default:
		return min(slot, closes)
	}
}

// Counts reports whether a parsed order record counts for a stream at a position. own is the public part of the record
// that holds it.
func (r Record) Counts(at *state.Ordered, own records.Public) bool {
	return r.Slot >= at.Slot && own.Appended && own.Timestamp >= (r.Slot+1)*slotMs
}

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
		part.Next, part.End = first.Next, first.Next
	}
	return part
}

// Enter moves the ends of a vector to the ends of an order record that counts, and appends to dst the ranges that they
// add. An entry with a smaller end, or with an older epoch, adds nothing.
func Enter(dst []Range, at, start *state.Ordered, entries []Entry) []Range {
	for _, e := range entries {
		part := Place(at, start, e.Partition)
		if e.End <= part.End || e.Epoch < part.Ordered {
			continue
		}
		dst = append(dst, Range{Partition: e.Partition, From: part.End, To: e.End, Epoch: e.Epoch})
		part.End, part.Ordered = e.End, e.Epoch
		at.Set(part)
	}
	return dst
}

// Leave moves a vector to the end of an order record that counts.
func (l Log) Leave(at *state.Ordered, closes int64) {
	if at.Slot = closes; l.ByClock {
		at.Slot++
	}
}
