package order

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
)

// Entry states that a partition of the input has reached an end.
type Entry struct {
	Partition int32
	End       int64 // the partition's stable end, exclusive
	Epoch     int32 // epoch of the leader that reported the end
}

// Log holds the facts to which records of an order log are bound: the deployment's key, the topic that holds the
// records, and the input that they order.
type Log struct {
	Key          [32]byte
	Topic, Input [16]byte
}

// An order record is
//
//	format u8 ‖ input id 16 ‖ entries ‖ MAC 16
//
// with an entry as three uvarints: the partition minus the previous entry's partition minus 1; the end; the epoch. The
// MAC is the first half of HMAC-SHA-256(key, order topic id ‖ all bytes before the MAC): 128 bits, the smallest length
// that RFC 2104, section 5, allows. It is the last field of every format, so that a record of a later version still
// verifies.
const (
	format1 = 1
	macLen  = 16
	headLen = 1 + 16

	// MaxEntries is the largest number of entries in a record, as Append writes it: 200 kB at most.
	MaxEntries = 10_000
)

// The errors of Parse. After ErrForged or ErrInput readers continue: the record counts for no reader, in any version.
// After ErrFormat a reader must stop: the record is authentic, and a later version may count it.
var (
	ErrForged = errors.New("order: record without the deployment's signature")
	ErrInput  = errors.New("order: record for another input topic")
	ErrFormat = errors.New("order: record of an unknown format")
)

// Append appends an order record to dst. Entries have ascending partitions, ends above 0, and epochs from 0 on.
func (l Log) Append(dst []byte, entries []Entry) []byte {
	if len(entries) > MaxEntries {
		panic(fmt.Sprintf("BUG: order: %d entries in a record, at most %d", len(entries), MaxEntries))
	}
	from := len(dst)
	dst = append(dst, format1)
	dst = append(dst, l.Input[:]...)
	before := int32(-1)
	for _, e := range entries {
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

// Parse returns the entries of a record that Append made. Errors: ErrForged, ErrInput, ErrFormat.
func (l Log) Parse(value []byte) ([]Entry, error) {
	if len(value) < headLen+macLen {
		return nil, ErrForged
	}
	body, mac := value[:len(value)-macLen], value[len(value)-macLen:]
	if sum := l.sum(body); !hmac.Equal(sum[:], mac) {
		return nil, ErrForged
	}
	if body[0] != format1 {
		return nil, fmt.Errorf("%w: %d", ErrFormat, body[0])
	}
	if [16]byte(body[1:headLen]) != l.Input {
		return nil, ErrInput
	}
	return parseEntries(body[headLen:])
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
