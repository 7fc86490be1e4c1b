package state

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"oriel/state/frame"
)

// Ordered is the position of a whole topic's stream: in the log that orders the topic's partitions, and in each of the
// partitions. It is public. Together with the order record at Next it determines how the stream continues; no earlier
// record is needed.
//
// With steps by the clock, Slot is the first open slot, in seconds since the Unix epoch: exactly the steps that end up
// to it are closed. In an incarnation's start it is the first second of the first step.
type Ordered struct {
	Log         [16]byte      // UUID of the topic that holds the order log
	Next        int64         // offset of the order record in progress
	LeaderEpoch int32         // epoch of the order log's last batch read, at Next or before it; −1 before any
	Slot        int64         // slot of the last record taken, or a later slot; the stream takes no earlier one
	Clock       bool          // steps are by the clock
	Parts       []OrderedPart // partitions with ordered records, ascending
}

// OrderedPart is the position of the stream in one partition of its input.
type OrderedPart struct {
	Partition   int32
	Next        int64 // next input offset to process
	End         int64 // end up to which an order entry has named the partition, exclusive; Next before any
	LeaderEpoch int32 // leader epoch of the last record batch read; −1 before any
	Ordered     int32 // leader epoch of the order entry with this end; −1 before any
}

// Clone returns a copy that shares no memory; nil for nil.
func (o *Ordered) Clone() *Ordered {
	if o == nil {
		return nil
	}
	c := *o
	c.Parts = slices.Clone(o.Parts)
	return &c
}

func (o *Ordered) equal(b *Ordered) bool {
	if o == nil || b == nil {
		return o == b
	}
	return o.Log == b.Log && o.Next == b.Next && o.LeaderEpoch == b.LeaderEpoch && o.Slot == b.Slot &&
		o.Clock == b.Clock && slices.Equal(o.Parts, b.Parts)
}

// Part returns a partition's position. ok is false if none of its records was ordered yet.
func (o *Ordered) Part(partition int32) (part OrderedPart, ok bool) {
	i, ok := o.find(partition)
	if !ok {
		return OrderedPart{Partition: partition, LeaderEpoch: -1, Ordered: -1}, false
	}
	return o.Parts[i], true
}

// Set replaces a partition's position.
func (o *Ordered) Set(part OrderedPart) {
	i, ok := o.find(part.Partition)
	if !ok {
		o.Parts = slices.Insert(o.Parts, i, part)
		return
	}
	o.Parts[i] = part
}

// find first tries the index that the partition has if all lower partitions are present, which is nearly always true.
func (o *Ordered) find(partition int32) (int, bool) {
	if i := int(partition); 0 <= i && i < len(o.Parts) && o.Parts[i].Partition == partition {
		return i, true
	}
	return slices.BinarySearchFunc(o.Parts, partition, func(p OrderedPart, partition int32) int {
		return int(p.Partition) - int(partition)
	})
}

// partSize is the length of a partition's position in a record.
const partSize = 4 + 8 + 8 + 4 + 4

// Place is a point in the history of one stream. It tells any two states of the stream apart, also two between which a
// step by the clock closed without records.
type Place struct {
	Slot int64 // first open slot of a stream with steps by the clock; 0 for steps by count
	Next int64 // Position.Next
}

// Place returns the place of a position.
func (p Position) Place() Place {
	if p.Order == nil || !p.Order.Clock {
		return Place{Next: p.Next}
	}
	return Place{Slot: p.Order.Slot, Next: p.Next}
}

// Compare returns −1, 0 or 1 if p is before, at or after o.
func (p Place) Compare(o Place) int {
	return cmp.Or(cmp.Compare(p.Slot, o.Slot), cmp.Compare(p.Next, o.Next))
}

// String names the offset, and the time up to which slots are closed. A slot is a second.
func (p Place) String() string {
	if p.Slot == 0 {
		return fmt.Sprintf("offset %d", p.Next)
	}
	return fmt.Sprintf("offset %d at %s", p.Next, time.Unix(p.Slot, 0).UTC().Format(time.RFC3339))
}

// appendOrdered appends the encoding of o in records: the byte 0 for nil, otherwise
//
//	steps u8: 1 by count, 2 by the clock ‖ log 16 ‖ next i64 ‖ leader epoch i32 ‖ slot i64 ‖ partitions u32
//	‖ for each, ascending: partition i32 ‖ next i64 ‖ end i64 ‖ leader epoch i32 ‖ ordered i32
func appendOrdered(dst []byte, o *Ordered) []byte {
	if o == nil {
		return append(dst, 0)
	}
	if !o.valid() {
		panic(fmt.Sprintf("BUG: state: a whole topic cannot stand at %+v", *o))
	}
	by := byte(1)
	if o.Clock {
		by = 2
	}
	dst = append(append(dst, by), o.Log[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(o.Next))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(o.LeaderEpoch))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(o.Slot))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(o.Parts)))
	for _, p := range o.Parts {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.Partition))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(p.Next))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(p.End))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.LeaderEpoch))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.Ordered))
	}
	return dst
}

// readOrdered reads the encoding that appendOrdered writes.
func readOrdered(r *frame.Reader) *Ordered {
	by := r.Uint8()
	if by != 1 && by != 2 {
		r.Bad = r.Bad || by != 0
		return nil
	}
	o := &Ordered{Log: r.Array16(), Next: int64(r.Uint64()), LeaderEpoch: int32(r.Uint32()), Slot: int64(r.Uint64())}
	o.Clock = by == 2
	n := r.Uint32()
	if r.Bad = r.Bad || uint64(n) > uint64(r.Left())/partSize; r.Bad {
		return nil
	}
	o.Parts = make([]OrderedPart, n)
	for i := range o.Parts {
		o.Parts[i] = OrderedPart{
			Partition: int32(r.Uint32()), Next: int64(r.Uint64()), End: int64(r.Uint64()),
			LeaderEpoch: int32(r.Uint32()), Ordered: int32(r.Uint32()),
		}
	}
	r.Bad = !o.valid()
	return o
}

// valid reports whether every field is within its bounds, and partitions are ascending.
func (o *Ordered) valid() bool {
	last := int32(-1)
	for _, p := range o.Parts {
		if p.Partition <= last || p.Next < 0 || p.End < p.Next || p.LeaderEpoch < -1 || p.Ordered < -1 {
			return false
		}
		last = p.Partition
	}
	return o.Next >= 0 && o.LeaderEpoch >= -1 && o.Slot >= 0
}
