package records

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"

	"oriel/pipeline/kafka/wire"
)

// MaxBatchBytes bounds a record batch, on the wire and decompressed. The records of a larger one are Unreadable. It
// determines which records become null events, so it must be a constant and not a setting. 64 MiB is the default limit
// of a topic (1 MiB) at a compression of 64:1; a larger value would only cost memory.
const MaxBatchBytes = 64 << 20

// MaxHeaders bounds the headers of a record; one with more is Unreadable. A header costs a producer two bytes, and
// almost none when compressed, but some fifty bytes of memory for a caller that decodes it. MaxHeaders determines which
// records become null events, so it must be a constant. It must have no other effect: the end of a Batch must not
// depend on headers.
const MaxHeaders = 1024

// Public is the public part of a record: it does not depend on key, headers and value. Code that determines where a
// Batch, a segment or a transaction ends, or which request is sent next, must read only this part of a record.
type Public struct {
	Offset      int64
	LeaderEpoch int32 // epoch of the appending leader; with topic id, partition and offset it identifies the record
	Appended    bool  // Timestamp is the time at which the broker appended the record's batch (LogAppendTime)
	Length      int   // bytes of the record in its decompressed batch; 0 if its end is unknown

	// Timestamp is set by the producer or the broker, by the topic's configuration, in ms since 1970; it is negative if
	// there is none. It is read before key, value and headers, so that they cannot change it.
	Timestamp int64
}

// Record is one record of the log.
type Record struct {
	Public
	Key, Value []byte
	Headers    Headers

	// Unreadable marks a record that exists but cannot be decoded. Value and Headers are empty. Key is as much of the
	// key as could be read, so that the bytes after a key do not affect it. The cause is one of the following, and is
	// not reported:
	//   - it does not parse, its offset is out of order, or it has more than MaxHeaders headers;
	//   - a record before it in its batch has a wrong length, so that the start of this one is unknown;
	//   - its batch does not decompress, or is beyond MaxBatchBytes.
	// Which records are Unreadable depends only on the bytes of their batch.
	Unreadable bool
}

// BatchHeader is the fixed part of a record batch.
type BatchHeader struct {
	Base          int64
	Length        int // bytes of the batch, header included
	LeaderEpoch   int32
	Attributes    uint16
	lastDelta     int32
	first         int64 // first timestamp, ms
	highest       int64
	Producer      int64
	ProducerEpoch int16
	Sequence      int32
	Count         int32
}

// Next is the offset after the batch.
func (h *BatchHeader) Next() int64 { return h.Base + int64(h.lastDelta) + 1 }

// Compacted reports whether compaction has removed records: the batch has fewer records than offsets.
func (h *BatchHeader) Compacted() bool { return h.Count <= h.lastDelta }

// Codec returns the compression of the records.
func (h *BatchHeader) Codec() Codec { return Codec(h.Attributes & codecMask) }

// Transactional reports whether the batch is part of a transaction.
func (h *BatchHeader) Transactional() bool { return h.Attributes&transactionalBit != 0 }

// Control reports whether the batch is a marker of a broker.
func (h *BatchHeader) Control() bool { return h.Attributes&ControlBit != 0 }

var (
	// ErrCorrupt reports bytes that are no record batch or fail their checksum. A Reader first treats it as transient,
	// because a connection may damage bytes; a damaged log fails repeatedly.
	ErrCorrupt = errors.New("kafka: corrupt record batch")

	// ErrFormat reports records without a log identity: message format below 2, or no leader epoch.
	ErrFormat = errors.New("kafka: record batch without leader epoch")
)

// ErrPartial marks a batch that is cut off by the end of the answer; the next request starts with it.
var ErrPartial = errors.New("kafka: batch cut short")

// ParseHeader reads and checks the header at the front of b and, unless headerOnly, the checksum over the batch.
func ParseHeader(b []byte, headerOnly bool) (BatchHeader, error) {
	if len(b) <= MagicAt {
		return BatchHeader{}, ErrPartial
	}
	if m := int8(b[MagicAt]); m != formatTwo {
		if m < formatTwo && m >= 0 {
			return BatchHeader{}, fmt.Errorf("%w: message format %d, want 2", ErrFormat, m)
		}
		return BatchHeader{}, fmt.Errorf("%w: message format %d", ErrCorrupt, m)
	}
	if len(b) < HeaderLen {
		return BatchHeader{}, ErrPartial
	}
	be := binary.BigEndian
	h := BatchHeader{
		Base:          int64(be.Uint64(b)),
		Length:        int(int32(be.Uint32(b[LengthAt:]))) + PrefixLen,
		LeaderEpoch:   int32(be.Uint32(b[LeaderEpochAt:])),
		Attributes:    be.Uint16(b[AttributesAt:]),
		lastDelta:     int32(be.Uint32(b[LastDeltaAt:])),
		first:         int64(be.Uint64(b[firstTimeAt:])),
		highest:       int64(be.Uint64(b[maxTimeAt:])),
		Producer:      int64(be.Uint64(b[producerIDAt:])),
		ProducerEpoch: int16(be.Uint16(b[producerEpochAt:])),
		Sequence:      int32(be.Uint32(b[sequenceAt:])),
		Count:         int32(be.Uint32(b[CountAt:])),
	}
	if h.Length < HeaderLen {
		return h, fmt.Errorf("%w: length %d", ErrCorrupt, h.Length)
	}
	if !headerOnly {
		if h.Length > len(b) {
			return h, ErrPartial
		}
		if crc32.Checksum(b[AttributesAt:h.Length], castagnoli) != be.Uint32(b[CRCAt:]) {
			return h, fmt.Errorf("%w: checksum at offset %d", ErrCorrupt, h.Base)
		}
	}
	// Base offset and leader epoch are outside the checksum.
	if h.Base < 0 || h.lastDelta < 0 || h.Count < 0 || h.Count > h.lastDelta+1 || h.Next() < 0 {
		return h, fmt.Errorf("%w: base offset %d, last delta %d, count %d", ErrCorrupt, h.Base, h.lastDelta, h.Count)
	}
	if h.LeaderEpoch < 0 {
		return h, fmt.Errorf("%w: offset %d", ErrFormat, h.Base)
	}
	return h, nil
}

// Cursor walks the records of one batch.
type Cursor struct {
	Header    BatchHeader
	Body      []byte // decompressed records not read yet
	index     int32  // index of the next record
	lastDelta int32  // offset delta of the batch's last record
	Lost      bool   // the start of the next record is unknown
}

// NewCursor returns a cursor before the first record of a batch; body holds the decompressed records.
func NewCursor(h BatchHeader, body []byte) Cursor {
	return Cursor{Header: h, Body: body, lastDelta: -1}
}

// Skipped returns a cursor after the last record of a batch.
func Skipped(h BatchHeader) Cursor { return Cursor{Header: h, index: h.Count} }

// Done reports whether no record follows. It also ends a batch that claims more records than fit into MaxBatchBytes.
func (c *Cursor) Done() bool { return c.index >= min(c.Header.Count, MaxBatchBytes/MinRecordLen) }

// Next reads a record into dst and returns its public part. An unreadable record gets the offset that it claims, or the
// lowest free offset if the claimed one is impossible.
func (c *Cursor) Next(dst *Record) Public {
	var record wire.Reader
	*dst = Record{}
	if !c.Lost {
		all := wire.Reader{B: c.Body}
		size := all.Varint()
		if all.Err == nil && size >= 0 && size <= int64(len(all.B)) {
			record.B = all.Take(int(size))
			c.Body = all.B
			dst.Length = int(size)
		} else {
			c.Lost, c.Body = true, nil
		}
	}
	record.Int8() // attributes
	timestamp := c.Header.first + record.Varint()
	delta := record.Varint()
	// Every record needs its own offset. So in a batch without compaction only one offset is possible.
	lowest, highest := c.lastDelta+1, c.Header.lastDelta-(c.Header.Count-1-c.index)
	ok := record.Err == nil && delta >= int64(lowest) && delta <= int64(highest)
	if !ok {
		delta = int64(lowest)
	}
	c.index++
	c.lastDelta = int32(delta)
	dst.Offset, dst.LeaderEpoch, dst.Timestamp = c.Header.Base+delta, c.Header.LeaderEpoch, timestamp
	dst.Key = record.Nullable()
	if ok {
		dst.Value = record.Nullable()
		dst.Headers, ok = takeHeaders(&record)
	}
	if c.Header.Attributes&logAppendTimeBit != 0 {
		dst.Timestamp, dst.Appended = c.Header.highest, true
	}
	if !ok {
		dst.Value, dst.Headers, dst.Unreadable = nil, Headers{}, true
	}
	return dst.Public
}

// AbortMarker reports whether the records of a control batch end a transaction by abort. Control batches hold one
// record, its key is version and type, and type 0 is abort. A control batch that does not parse ends no transaction.
func AbortMarker(h BatchHeader, body []byte) bool {
	c := NewCursor(h, body)
	var r Record
	if c.Done() {
		return false
	}
	if c.Next(&r); len(r.Key) < 4 {
		return false
	}
	return binary.BigEndian.Uint16(r.Key[2:]) == 0
}
