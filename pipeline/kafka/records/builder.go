package records

import (
	"encoding/binary"
	"hash/crc32"

	"oriel/pipeline/kafka/wire"
)

// Layout of a record batch, format 2. The checksum covers everything from attributes on.
const (
	LengthAt        = 8
	LeaderEpochAt   = 12
	MagicAt         = 16
	CRCAt           = 17
	AttributesAt    = 21
	LastDeltaAt     = 23
	firstTimeAt     = 27
	maxTimeAt       = 35
	producerIDAt    = 43
	producerEpochAt = 51
	sequenceAt      = 53
	CountAt         = 57
	HeaderLen       = 61

	codecMask        = 0x07
	logAppendTimeBit = 0x08
	transactionalBit = 0x10
	ControlBit       = 0x20
	formatTwo        = 2
	MinRecordLen     = 7  // six fields of one byte each, and the length before them
	PrefixLen        = 12 // base offset and length; the length field does not count them
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Checksum checks a batch while it arrives.
type Checksum struct{ sum, want uint32 }

// NewChecksum starts with the header of the batch.
func NewChecksum(head []byte) Checksum {
	return Checksum{
		sum:  crc32.Checksum(head[AttributesAt:HeaderLen], castagnoli),
		want: binary.BigEndian.Uint32(head[CRCAt:]),
	}
}

// Add adds the next bytes of the batch.
func (c *Checksum) Add(piece []byte) { c.sum = crc32.Update(c.sum, castagnoli, piece) }

// Holds reports whether the checksum of the complete batch is correct.
func (c *Checksum) Holds() bool { return c.sum == c.want }

// WholeLength returns the length of a batch, as its header announces it.
func WholeLength(head []byte) int64 {
	return int64(int32(binary.BigEndian.Uint32(head[LengthAt:]))) + PrefixLen
}

// EpochOf returns the leader epoch of the batch that starts b, or −1 if b does not start with a batch.
func EpochOf(b []byte) int32 {
	if len(b) < HeaderLen || b[MagicAt] != formatTwo {
		return -1
	}
	return int32(binary.BigEndian.Uint32(b[LeaderEpochAt:]))
}

// Builder is a record batch under construction for one partition. Its zero value is ready; it allocates only while its
// buffer still grows. It is not safe for concurrent use.
type Builder struct {
	codec   Codec
	buf     []byte // header and uncompressed records, as sent
	packed  []byte // header and compressed records, as sent
	count   int
	first   int64 // first timestamp, ms
	highest int64
}

// Compress sets the codec of the batches that follow; NoCompression at first.
func (b *Builder) Compress(codec Codec) { b.codec = codec }

// Append adds a record. Nil key and value are null. The arguments are copied.
func (b *Builder) Append(key, value []byte, headers []Header, timestampMs int64) {
	if b.count == 0 {
		b.first, b.highest = timestampMs, timestampMs
		if cap(b.buf) < HeaderLen {
			b.buf = make([]byte, HeaderLen, 4096)
		}
		b.buf = b.buf[:HeaderLen]
	}
	b.highest = max(b.highest, timestampMs)
	timeDelta, offsetDelta := timestampMs-b.first, int64(b.count)

	size := 1 + wire.VarintLen(timeDelta) + wire.VarintLen(offsetDelta) + wire.NullableLen(key) + wire.NullableLen(value) +
		wire.VarintLen(int64(len(headers)))
	for i := range headers {
		size += wire.VarintLen(int64(len(headers[i].Key))) + len(headers[i].Key) + wire.NullableLen(headers[i].Value)
	}
	dst := wire.AppendVarint(b.buf, int64(size))
	dst = append(dst, 0) // record attributes
	dst = wire.AppendVarint(dst, timeDelta)
	dst = wire.AppendVarint(dst, offsetDelta)
	dst = wire.AppendNullable(dst, key)
	dst = wire.AppendNullable(dst, value)
	b.buf = appendHeaders(dst, headers)
	b.count++
}

// Bytes is the size of the batch before compression, the size that brokers compare with max.message.bytes.
func (b *Builder) Bytes() int { return len(b.buf) }

// Count is the number of records.
func (b *Builder) Count() int { return b.count }

// Reset empties the builder and keeps its memory.
func (b *Builder) Reset() {
	b.buf = b.buf[:0]
	b.count = 0
}

// Stamp is the part of a batch that identifies its producer.
type Stamp struct {
	ProducerID    int64
	Epoch         int16
	Sequence      int32 // sequence number of the first record
	Transactional bool
}

// Seal finishes the batch under a stamp. The result aliases the builder until the next Append, Reset or Seal; equal
// contents and stamps give equal bytes.
func (b *Builder) Seal(s Stamp) ([]byte, error) {
	batch := b.buf
	if b.codec != NoCompression {
		packed, err := b.codec.Compress(append(b.packed[:0], b.buf[:HeaderLen]...), b.buf[HeaderLen:])
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
	be.PutUint32(batch[LengthAt:], uint32(len(batch)-PrefixLen))
	be.PutUint32(batch[LeaderEpochAt:], ^uint32(0)) // −1, because the broker sets it
	batch[MagicAt] = formatTwo
	be.PutUint16(batch[AttributesAt:], attributes)
	be.PutUint32(batch[LastDeltaAt:], uint32(b.count-1))
	be.PutUint64(batch[firstTimeAt:], uint64(b.first))
	be.PutUint64(batch[maxTimeAt:], uint64(b.highest))
	be.PutUint64(batch[producerIDAt:], uint64(s.ProducerID))
	be.PutUint16(batch[producerEpochAt:], uint16(s.Epoch))
	be.PutUint32(batch[sequenceAt:], uint32(s.Sequence))
	be.PutUint32(batch[CountAt:], uint32(b.count))
	be.PutUint32(batch[CRCAt:], crc32.Checksum(batch[AttributesAt:], castagnoli))
	return batch, nil
}

// Abandon drops buffers that a connection may still be sending, so that they are not reused.
func (b *Builder) Abandon() {
	b.buf, b.packed = append([]byte(nil), b.buf...), nil
}
