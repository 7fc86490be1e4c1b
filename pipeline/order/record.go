package order

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"oriel/state"
)

// Record states that slots have ended, and how far the input had come.
type Record struct {
	Slot    int64   // this slot and all earlier ones have ended
	Entries []Entry // partitions whose end has moved, ascending
}

// Entry states that a partition of the input has reached an end.
type Entry struct {
	Partition int32
	End       int64 // the partition's end, exclusive
	Epoch     int32 // epoch of the leader that reported the end
}

// Log holds the facts to which records of an order log are bound: the deployment's key, the topic that holds the
// records, and the input that they order.
type Log struct {
	Key          [32]byte
	Topic, Input [16]byte
	ByClock      bool // which rule the log has; see rule.go
}

// An order record is
//
//	format u8 ‖ input id 16 ‖ slot ‖ entries ‖ MAC 16
//
// with the slot as a uvarint, and an entry as three: the partition minus the previous entry's partition minus 1; the
// end; the epoch. The MAC is the first half of HMAC-SHA-256(key, order topic id ‖ all bytes before the MAC): 128 bits,
// the smallest length that RFC 2104, section 5, allows. It is the last field of every format, so that a record of a
// later version still verifies.
const (
	format1 = 1
	macLen  = 16
	headLen = 1 + 16

	// MaxEntries is the largest number of entries in a record: 5 MB at most, below the max.message.bytes of the order
	// topic. It is no limit in practice, because a cluster of Kafka has at most some 200 000 partitions.
	MaxEntries = 1 << 18

	// maxSlot is the largest slot whose end is a time in ms.
	maxSlot = math.MaxInt64/slotMs - 1
)

// The errors of Parse. After ErrForged or ErrInput readers continue: the record counts for no reader, in any version.
// After ErrFormat a reader must stop: the record is authentic, and a later version may count it.
var (
	ErrForged = errors.New("order: record without the deployment's signature")
	ErrInput  = errors.New("order: record for another input topic")
	ErrFormat = errors.New("order: record of an unknown format")
)

// LogOf returns the order log in which a stream of an input stands.
func LogOf(key [32]byte, at *state.Ordered, input [16]byte) Log {
	return Log{Key: key, Topic: at.Log, Input: input, ByClock: at.Clock}
}

// Append appends an order record to dst. Slots count from 0, ends from 1 and epochs from 0.
func (l Log) Append(dst []byte, r Record) []byte {
	if len(r.Entries) > MaxEntries || r.Slot < 0 || r.Slot > maxSlot {
		panic(fmt.Sprintf("BUG: order: a record of slot %d with %d entries", r.Slot, len(r.Entries)))
	}
	from := len(dst)
	dst = append(dst, format1)
	dst = append(dst, l.Input[:]...)
	dst = binary.AppendUvarint(dst, uint64(r.Slot))
	before := int32(-1)
	for _, e := range r.Entries {
		if e.Partition <= before || e.End <= 0 || e.Epoch < 0 {
			panic(fmt.Sprintf("BUG: order: entry %+v after partition %d", e, before))
		}
		dst = binary.AppendUvarint(dst, uint64(e.Partition-before-1))
		dst = binary.AppendUvarint(dst, uint64(e.End))
		dst = binary.AppendUvarint(dst, uint64(e.Epoch))
		before = e.Partition
	}
	sum := l.sum(dst[from:])
	return append(dst, sum[:]...)
}

// Parse reads a record that Append made. Errors: ErrForged, ErrInput, ErrFormat.
func (l Log) Parse(value []byte) (Record, error) {
	if len(value) < headLen+macLen {
		return Record{}, ErrForged
	}
	body, mac := value[:len(value)-macLen], value[len(value)-macLen:]
	if sum := l.sum(body); !hmac.Equal(sum[:], mac) {
		return Record{}, ErrForged
	}
	if body[0] != format1 {
		return Record{}, fmt.Errorf("%w: %d", ErrFormat, body[0])
	}
	if [16]byte(body[1:headLen]) != l.Input {
		return Record{}, ErrInput
	}
	slot, n := binary.Uvarint(body[headLen:])
	if n <= 0 || slot > uint64(maxSlot) {
		return Record{}, ErrFormat
	}
	entries, err := parseEntries(body[headLen+n:])
	if err != nil {
		return Record{}, err
	}
	return Record{Slot: int64(slot), Entries: entries}, nil
}

// parseEntries parses a signed record. It returns ErrFormat for a record that cannot have been written in this format.
func parseEntries(b []byte) ([]Entry, error) {
	var entries []Entry
	before := int64(-1)
	for len(b) > 0 {
		var fields [3]uint64
		for i := range fields {
			value, n := binary.Uvarint(b)
			if n <= 0 || value > math.MaxInt64 {
				return nil, ErrFormat
			}
			fields[i], b = value, b[n:]
		}
		if fields[0] > math.MaxInt32 || fields[2] > math.MaxInt32 {
			return nil, ErrFormat
		}
		before += 1 + int64(fields[0])
		e := Entry{Partition: int32(before), End: int64(fields[1]), Epoch: int32(fields[2])}
		if before > math.MaxInt32 || e.End == 0 || len(entries) == MaxEntries {
			return nil, ErrFormat
		}
		entries = append(entries, e)
	}
	return entries, nil
}

// sum authenticates the body of a record.
func (l Log) sum(body []byte) (mac [macLen]byte) {
	h := hmac.New(sha256.New, l.Key[:])
	h.Write(l.Topic[:])
	h.Write(body)
	copy(mac[:], h.Sum(nil))
	return mac
}
