package state

import (
	"encoding/binary"
	"fmt"
	"slices"
)

// Ordered is the position of a whole topic's stream: in the log that orders the topic's partitions, and in each of the
// partitions. It is public. Together with the order record at Next it determines how the stream continues; no earlier
// record is needed.
type Ordered struct {
	Log         [16]byte      // UUID of the topic that holds the order log
	Next        int64         // offset of the order record in progress
	LeaderEpoch int32         // epoch of the order log's last batch read, at Next or before it; −1 before any
	Parts       []OrderedPart // partitions with ordered records, ascending
}

// OrderedPart is the position of the stream in one partition of its input.
type OrderedPart struct {
	Partition   int32
	Next        int64 // next input offset to process
	LeaderEpoch int32 // leader epoch of the last record batch read; −1 before any
	Ordered     int32 // largest leader epoch of an order entry that counted; −1 before any
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
	return o.Log == b.Log && o.Next == b.Next && o.LeaderEpoch == b.LeaderEpoch && slices.Equal(o.Parts, b.Parts)
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
const partSize = 4 + 8 + 4 + 4

// appendOrdered appends the encoding of o in records:
//
//	log 16 ‖ next i64 ‖ leader epoch i32 ‖ partitions u32 ‖ for each, ascending: partition i32 ‖ next i64
//	‖ leader epoch i32 ‖ ordered i32
func appendOrdered(dst []byte, o *Ordered) []byte {
	if !o.valid() {
		panic(fmt.Sprintf("BUG: state: a whole topic cannot stand at %+v", *o))
	}
	dst = append(dst, o.Log[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(o.Next))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(o.LeaderEpoch))
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(o.Parts)))
	for _, p := range o.Parts {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.Partition))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(p.Next))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.LeaderEpoch))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(p.Ordered))
	}
	return dst
}

// ordered reads the encoding that appendOrdered writes.
func (r *reader) ordered() *Ordered {
	o := &Ordered{Log: r.array16(), Next: int64(r.uint64()), LeaderEpoch: int32(r.uint32())}
	n := r.uint32()
	if r.bad = r.bad || uint64(n) > uint64(len(r.record)-r.at)/partSize; r.bad {
		return nil
	}
	o.Parts = make([]OrderedPart, n)
	for i := range o.Parts {
		o.Parts[i] = OrderedPart{
			Partition: int32(r.uint32()), Next: int64(r.uint64()), LeaderEpoch: int32(r.uint32()), Ordered: int32(r.uint32()),
		}
	}
	r.bad = !o.valid()
	return o
}

// valid reports whether every field is within its bounds, and partitions are ascending.
func (o *Ordered) valid() bool {
	last := int32(-1)
	for _, p := range o.Parts {
		if p.Partition <= last || p.Next < 0 || p.LeaderEpoch < -1 || p.Ordered < -1 {
			return false
		}
		last = p.Partition
	}
	return o.Next >= 0 && o.LeaderEpoch >= -1
}
