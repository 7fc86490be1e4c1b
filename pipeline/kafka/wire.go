package kafka

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// errShort marks bytes that end before what they announce.
var errShort = errors.New("kafka: answer cut short")

// zigzag folds a signed integer so that small magnitudes become short varints.
func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// appendVarint appends a zigzag varint, the integer of record batches.
func appendVarint(dst []byte, v int64) []byte { return binary.AppendUvarint(dst, zigzag(v)) }

// varintLen is the length of appendVarint's result.
func varintLen(v int64) int { return (bits.Len64(zigzag(v)|1) + 6) / 7 }

// appendString appends a string of the classic protocol versions.
func appendString(dst []byte, s string) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(s)))
	return append(dst, s...)
}

// appendCompactString appends a string of the flexible protocol versions.
func appendCompactString(dst []byte, s string) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s))+1)
	return append(dst, s...)
}

// appendSized appends bytes of the classic protocol versions.
func appendSized(dst, b []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(b)))
	return append(dst, b...)
}

// wireReader takes values off the front of bytes that came from the network. After the first value that does not fit,
// err is set and every further value is zero; so a parser checks once, at its end, and BEFORE it allocates by a length.
type wireReader struct {
	b   []byte
	err error
}

func (r *wireReader) take(n int) []byte {
	if r.err != nil || n < 0 || n > len(r.b) {
		r.err = errShort
		r.b = nil
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

func (r *wireReader) int8() int8 {
	if b := r.take(1); b != nil {
		return int8(b[0])
	}
	return 0
}

func (r *wireReader) int16() int16 {
	if b := r.take(2); b != nil {
		return int16(binary.BigEndian.Uint16(b))
	}
	return 0
}

func (r *wireReader) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *wireReader) int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

func (r *wireReader) uvarint() uint64 {
	v, n := binary.Uvarint(r.b)
	if n <= 0 {
		r.take(-1)
		return 0
	}
	r.b = r.b[n:]
	return v
}

func (r *wireReader) varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// count takes the length of an array whose elements have at least size bytes each; it cannot exceed what is left.
func (r *wireReader) count(n, size int64) int {
	if r.err != nil || n < 0 || n*size > int64(len(r.b)) || n > int64(len(r.b)) {
		r.take(-1)
		return 0
	}
	return int(n)
}

// array takes a classic array length; null counts as empty.
func (r *wireReader) array(size int64) int { return r.count(max(int64(r.int32()), 0), size) }

// compactArray takes a flexible array length; null counts as empty.
func (r *wireReader) compactArray(size int64) int {
	return r.count(max(int64(min(r.uvarint(), 1<<31))-1, 0), size)
}

func (r *wireReader) string() string { return string(r.take(int(max(r.int16(), 0)))) }

// sized takes classic bytes; null counts as empty.
func (r *wireReader) sized() []byte { return r.take(int(max(r.int32(), 0))) }

// compactString takes a flexible string; null counts as empty.
func (r *wireReader) compactString() string {
	return string(r.take(int(max(int64(min(r.uvarint(), 1<<31))-1, 0))))
}

// tags skips the tagged fields of a flexible structure.
func (r *wireReader) tags() {
	for n := r.count(int64(min(r.uvarint(), 1<<31)), 2); n > 0; n-- {
		r.uvarint()
		r.take(int(min(r.uvarint(), 1<<31)))
	}
}

// nullable takes bytes with a varint length before them; −1 is nil.
func (r *wireReader) nullable() []byte {
	n := r.varint()
	if n == -1 {
		return nil
	}
	if n < 0 || n > int64(len(r.b)) {
		r.take(-1)
		return nil
	}
	return r.take(int(n))
}
