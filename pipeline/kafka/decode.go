package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// MaxBatchBytes bounds a record batch, on the wire and decompressed. The records of a larger one are Unreadable. It
// decides which records take a null place, so it is a constant and no setting. 64 MiB holds what the default limit of a
// topic (1 MiB) decompresses to at 64:1; a larger value only costs memory.
const MaxBatchBytes = 64 << 20

// MaxHeaders bounds the headers of a record; one with more is Unreadable. A header may cost a producer two bytes,
// hardly any when compressed, and a caller that decodes it some fifty. It decides which records take a null place, so
// it is a constant. It decides nothing else: where a Batch ends must not follow from headers.
const MaxHeaders = 1024

// Public is what everybody may know of a record, whatever its key, headers and value say. Code that decides where a
// Batch, a segment or a transaction ends, or which request goes out next, must read nothing else of a record.
type Public struct {
	Offset      int64
	LeaderEpoch int32 // of the leader that appended it; with the topic's id, partition and offset its identity
	Length      int   // bytes of the record in its decompressed batch; 0 when nobody knows where it ends
}

// Record is one record of the log.
type Record struct {
	Public
	Timestamp  int64 // ms; the producer's or the broker's, as the topic says
	Key, Value []byte
	Headers    Headers

	// Unreadable marks a record that is there but cannot be had. Value and Headers are empty; Key is what could be read
	// of it, so that what follows a key does not decide whether it is there. Why is not told apart:
	//   - it does not parse, its offset is out of order, or it has more than MaxHeaders headers;
	//   - a record before it in its batch lies about its own length, so that nobody knows where this one starts;
	//   - its batch does not decompress, or is beyond MaxBatchBytes.
	// Which records these are depends on the bytes of the batch alone.
	Unreadable bool
}

// batchHeader is the fixed part of a record batch.
type batchHeader struct {
	base          int64
	length        int // whole batch, bytes
	leaderEpoch   int32
	attributes    uint16
	lastDelta     int32
	first         int64 // timestamps, ms
	highest       int64
	producer      int64
	producerEpoch int16
	sequence      int32
	count         int32
}

func (h *batchHeader) next() int64         { return h.base + int64(h.lastDelta) + 1 }
func (h *batchHeader) codec() Codec        { return Codec(h.attributes & codecMask) }
func (h *batchHeader) transactional() bool { return h.attributes&transactionalBit != 0 }
func (h *batchHeader) control() bool       { return h.attributes&controlBit != 0 }

var (
	// ErrCorrupt reports bytes that are no record batch or fail their checksum. It is transient to the reader, since a
	// connection may damage bytes; a log that is damaged fails again and again.
	ErrCorrupt = errors.New("kafka: corrupt record batch")

	// ErrFormat reports records without a log identity: message format below 2, or no leader epoch.
	ErrFormat = errors.New("kafka: record batch without leader epoch")
)

// errPartial marks a batch that is cut off by the end of the answer; the next request starts with it.
var errPartial = errors.New("kafka: batch cut short")

// parseBatchHeader reads and checks the header at the front of b and, unless headerOnly, the checksum over the batch.
func parseBatchHeader(b []byte, headerOnly bool) (batchHeader, error) {
	if len(b) <= magicAt {
		return batchHeader{}, errPartial
	}
	if m := int8(b[magicAt]); m != formatTwo {
		if m < formatTwo && m >= 0 {
			return batchHeader{}, fmt.Errorf("%w: message format %d, want 2", ErrFormat, m)
		}
		return batchHeader{}, fmt.Errorf("%w: message format %d", ErrCorrupt, m)
	}
	if len(b) < batchHeaderLen {
		return batchHeader{}, errPartial
	}
	be := binary.BigEndian
	h := batchHeader{
		base:          int64(be.Uint64(b)),
		length:        int(int32(be.Uint32(b[batchLengthAt:]))) + batchPrefixLen,
		leaderEpoch:   int32(be.Uint32(b[leaderEpochAt:])),
		attributes:    be.Uint16(b[attributesAt:]),
		lastDelta:     int32(be.Uint32(b[lastDeltaAt:])),
		first:         int64(be.Uint64(b[firstTimeAt:])),
		highest:       int64(be.Uint64(b[maxTimeAt:])),
		producer:      int64(be.Uint64(b[producerIDAt:])),
		producerEpoch: int16(be.Uint16(b[producerEpochAt:])),
		sequence:      int32(be.Uint32(b[sequenceAt:])),
		count:         int32(be.Uint32(b[countAt:])),
	}
	if h.length < batchHeaderLen {
		return h, fmt.Errorf("%w: length %d", ErrCorrupt, h.length)
	}
	if !headerOnly {
		if h.length > len(b) {
			return h, errPartial
		}
		if crc32.Checksum(b[attributesAt:h.length], castagnoli) != be.Uint32(b[crcAt:]) {
			return h, fmt.Errorf("%w: checksum at offset %d", ErrCorrupt, h.base)
		}
	}
	// Base offset and leader epoch are outside the checksum.
	if h.base < 0 || h.lastDelta < 0 || h.count < 0 || h.count > h.lastDelta+1 || h.next() < 0 {
		return h, fmt.Errorf("%w: base offset %d, last delta %d, count %d", ErrCorrupt, h.base, h.lastDelta, h.count)
	}
	if h.leaderEpoch < 0 {
		return h, fmt.Errorf("%w: offset %d", ErrFormat, h.base)
	}
	return h, nil
}

// cursor walks the records of one batch.
type cursor struct {
	header    batchHeader
	body      []byte // what is left of the decompressed records
	index     int32  // of the next record
	lastDelta int32  // offset delta of the last record
	lost      bool   // nobody knows where the next record starts
}

func newCursor(h batchHeader, body []byte) cursor {
	return cursor{header: h, body: body, lastDelta: -1}
}

// skipped is a cursor behind the last record of a batch.
func skipped(h batchHeader) cursor { return cursor{header: h, index: h.count} }

// done also ends a batch that claims more records than any batch within MaxBatchBytes has.
func (c *cursor) done() bool { return c.index >= min(c.header.count, MaxBatchBytes/minRecordLen) }

// next reads a record into dst and returns what is public of it. An unreadable record takes the offset it claims, or
// the lowest that is free if that cannot be.
func (c *cursor) next(dst *Record) Public {
	var record wireReader
	*dst = Record{}
	if !c.lost {
		all := wireReader{b: c.body}
		size := all.varint()
		if all.err == nil && size >= 0 && size <= int64(len(all.b)) {
			record.b = all.take(int(size))
			c.body = all.b
			dst.Length = int(size)
		} else {
			c.lost, c.body = true, nil
		}
	}
	record.int8() // attributes
	timestamp := c.header.first + record.varint()
	delta := record.varint()
	// Every record that follows needs an offset of its own. So a batch that was not compacted leaves no choice.
	lowest, highest := c.lastDelta+1, c.header.lastDelta-(c.header.count-1-c.index)
	ok := record.err == nil && delta >= int64(lowest) && delta <= int64(highest)
	if !ok {
		delta = int64(lowest)
	}
	c.index++
	c.lastDelta = int32(delta)
	dst.Offset, dst.LeaderEpoch, dst.Timestamp = c.header.base+delta, c.header.leaderEpoch, timestamp
	dst.Key = record.nullable()
	if ok {
		dst.Value = record.nullable()
		dst.Headers, ok = takeHeaders(&record)
	}
	if c.header.attributes&logAppendTimeBit != 0 {
		dst.Timestamp = c.header.highest
	}
	if !ok {
		dst.Value, dst.Headers, dst.Timestamp, dst.Unreadable = nil, Headers{}, c.header.first, true
	}
	return dst.Public
}

// abortMarker reports whether the records of a control batch end a transaction by abort. Control batches hold one
// record, its key is version and type, and type 0 is abort. One that does not parse ends nothing.
func abortMarker(h batchHeader, body []byte) bool {
	c := newCursor(h, body)
	var r Record
	if c.done() {
		return false
	}
	if c.next(&r); len(r.Key) < 4 {
		return false
	}
	return binary.BigEndian.Uint16(r.Key[2:]) == 0
}
