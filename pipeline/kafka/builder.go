package kafka

import (
	"encoding/binary"
	"hash/crc32"
)

// Layout of a record batch, format 2. Everything from attributes on is under the checksum.
const (
	batchLengthAt   = 8
	leaderEpochAt   = 12
	magicAt         = 16
	crcAt           = 17
	attributesAt    = 21
	lastDeltaAt     = 23
	firstTimeAt     = 27
	maxTimeAt       = 35
	producerIDAt    = 43
	producerEpochAt = 51
	sequenceAt      = 53
	countAt         = 57
	batchHeaderLen  = 61

	codecMask         = 0x07
	logAppendTimeBit  = 0x08
	transactionalBit  = 0x10
	controlBit        = 0x20
	formatTwo         = 2
	minRecordLen      = 7  // six one-byte fields and the length before them
	batchPrefixLen    = 12 // base offset and length, not counted by the length itself
	minBatchLengthVal = batchHeaderLen - batchPrefixLen
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum follows a batch that is checked while it arrives.
type checksum struct{ sum, want uint32 }

// newChecksum begins with the header of the batch.
func newChecksum(head []byte) checksum {
	return checksum{
		sum:  crc32.Checksum(head[attributesAt:batchHeaderLen], castagnoli),
		want: binary.BigEndian.Uint32(head[crcAt:]),
	}
}

// add takes the bytes that follow.
func (c *checksum) add(piece []byte) { c.sum = crc32.Update(c.sum, castagnoli, piece) }

// holds reports whether the batch, whole by now, is the one that its producer checked.
func (c *checksum) holds() bool { return c.sum == c.want }

// wholeLength is the length of the batch that head begins, as head announces it.
func wholeLength(head []byte) int64 {
	return int64(int32(binary.BigEndian.Uint32(head[batchLengthAt:]))) + batchPrefixLen
}

// epochOf is the leader epoch of the batch that begins b, or −1 if none does.
func epochOf(b []byte) int32 {
	if len(b) < batchHeaderLen || b[magicAt] != formatTwo {
		return -1
	}
	return int32(binary.BigEndian.Uint32(b[leaderEpochAt:]))
}

// Builder is a record batch under construction for one partition. Its zero value is ready; it allocates only while its
// buffer still grows. It is not safe for concurrent use.
type Builder struct {
	codec   Codec
	buf     []byte // header and records as they go to the wire
	packed  []byte // the same with records compressed
	count   int
	first   int64 // timestamps, ms
	highest int64
}

// Compress sets the codec of the batches that follow; NoCompression at first.
func (b *Builder) Compress(codec Codec) { b.codec = codec }

// Append adds a record. Nil key and value are null. The arguments are copied.
func (b *Builder) Append(key, value []byte, headers []Header, timestampMs int64) {
	if b.count == 0 {
		b.first, b.highest = timestampMs, timestampMs
		if cap(b.buf) < batchHeaderLen {
			b.buf = make([]byte, batchHeaderLen, 4096)
		}
		b.buf = b.buf[:batchHeaderLen]
	}
	b.highest = max(b.highest, timestampMs)
	timeDelta, offsetDelta := timestampMs-b.first, int64(b.count)

	size := 1 + varintLen(timeDelta) + varintLen(offsetDelta) + bytesLen(key) + bytesLen(value) +
		varintLen(int64(len(headers)))
	for i := range headers {
		size += varintLen(int64(len(headers[i].Key))) + len(headers[i].Key) + bytesLen(headers[i].Value)
	}
	dst := appendVarint(b.buf, int64(size))
	dst = append(dst, 0) // attributes
	dst = appendVarint(dst, timeDelta)
	dst = appendVarint(dst, offsetDelta)
	dst = appendBytes(dst, key)
	dst = appendBytes(dst, value)
	b.buf = appendHeaders(dst, headers)
	b.count++
}

// Bytes is the size of the batch before compression, what a topic's max.message.bytes is compared with.
func (b *Builder) Bytes() int { return len(b.buf) }

// Count is the number of records.
func (b *Builder) Count() int { return b.count }

// Reset empties the builder and keeps its memory.
func (b *Builder) Reset() {
	b.buf = b.buf[:0]
	b.count = 0
}

// Stamp is what a producer adds to a batch.
type Stamp struct {
	ProducerID    int64
	Epoch         int16
	Sequence      int32 // of the first record
	Transactional bool
}

// seal finishes the batch under a stamp. The result aliases the builder until the next Append, Reset or seal; equal
// contents and stamps give equal bytes.
func (b *Builder) seal(s Stamp) ([]byte, error) {
	batch := b.buf
	if b.codec != NoCompression {
		packed, err := b.codec.compress(append(b.packed[:0], b.buf[:batchHeaderLen]...), b.buf[batchHeaderLen:])
		if err != nil {
			return nil, err
		}
		b.packed, batch = packed, packed
	}
	attributes := uint16(b.codec)
	if s.Transactional {
		attributes |= transactionalBit
	}
	be := binary.BigEndian
	be.PutUint64(batch, 0)
	be.PutUint32(batch[batchLengthAt:], uint32(len(batch)-batchPrefixLen))
	be.PutUint32(batch[leaderEpochAt:], ^uint32(0)) // the broker's to fill
	batch[magicAt] = formatTwo
	be.PutUint16(batch[attributesAt:], attributes)
	be.PutUint32(batch[lastDeltaAt:], uint32(b.count-1))
	be.PutUint64(batch[firstTimeAt:], uint64(b.first))
	be.PutUint64(batch[maxTimeAt:], uint64(b.highest))
	be.PutUint64(batch[producerIDAt:], uint64(s.ProducerID))
	be.PutUint16(batch[producerEpochAt:], uint16(s.Epoch))
	be.PutUint32(batch[sequenceAt:], uint32(s.Sequence))
	be.PutUint32(batch[countAt:], uint32(b.count))
	be.PutUint32(batch[crcAt:], crc32.Checksum(batch[attributesAt:], castagnoli))
	return batch, nil
}

// abandon gives up buffers that a connection may still be sending.
func (b *Builder) abandon() {
	b.buf, b.packed = append([]byte(nil), b.buf...), nil
}

func bytesLen(v []byte) int {
	if v == nil {
		return 1
	}
	return varintLen(int64(len(v))) + len(v)
}

func appendBytes(dst, v []byte) []byte {
	if v == nil {
		return append(dst, 1) // -1
	}
	return append(appendVarint(dst, int64(len(v))), v...)
}
