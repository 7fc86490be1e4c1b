package wire

import (
	"encoding/binary"
	"errors"
	"math/bits"
)

// ErrShort marks bytes that end before the length that they claim.
var ErrShort = errors.New("kafka: answer cut short")

// zigzag encodes a signed integer so that small magnitudes become short varints.
func zigzag(v int64) uint64 { return uint64(v<<1) ^ uint64(v>>63) }

// AppendVarint appends a zigzag varint, the integer encoding of record batches.
func AppendVarint(dst []byte, v int64) []byte { return binary.AppendUvarint(dst, zigzag(v)) }

// VarintLen returns the length of AppendVarint's result.
func VarintLen(v int64) int { return (bits.Len64(zigzag(v)|1) + 6) / 7 }

// AppendNullable appends bytes after their varint length, −1 for nil. Reader.Nullable reads them.
func AppendNullable(dst, v []byte) []byte {
	if v == nil {
		return append(dst, 1) // the compact encoding of a null length, −1
	}
	return append(AppendVarint(dst, int64(len(v))), v...)
}

// NullableLen returns the length of AppendNullable's result.
func NullableLen(v []byte) int {
	if v == nil {
		return 1
	}
	return VarintLen(int64(len(v))) + len(v)
}

// AppendString appends a string of the classic protocol versions.
func AppendString(dst []byte, s string) []byte {
	dst = binary.BigEndian.AppendUint16(dst, uint16(len(s)))
	return append(dst, s...)
}

// Reader reads values from the front of bytes that came from the network. After the first invalid value Err is set and
// every further value is zero. So a parser needs one check at its end, and one BEFORE it allocates memory by a length.
type Reader struct {
	B   []byte // bytes not parsed yet
	Err error
}

// Take returns the next n bytes.
func (r *Reader) Take(n int) []byte {
	if r.Err != nil || n < 0 || n > len(r.B) {
		r.Err = ErrShort
		r.B = nil
		return nil
	}
	v := r.B[:n:n]
	r.B = r.B[n:]
	return v
}

// zeros is the value of a number beyond the end of the bytes.
var zeros [8]byte

// fixed returns the n bytes of a number.
func (r *Reader) fixed(n int) []byte {
	if b := r.Take(n); b != nil {
		return b
	}
	return zeros[:n]
}

// Int8 reads one byte.
func (r *Reader) Int8() int8 { return int8(r.fixed(1)[0]) }

// Int16 reads two bytes, big-endian.
func (r *Reader) Int16() int16 { return int16(binary.BigEndian.Uint16(r.fixed(2))) }

// Int32 reads four bytes, big-endian.
func (r *Reader) Int32() int32 { return int32(binary.BigEndian.Uint32(r.fixed(4))) }

// Int64 reads eight bytes, big-endian.
func (r *Reader) Int64() int64 { return int64(binary.BigEndian.Uint64(r.fixed(8))) }

func (r *Reader) uvarint() uint64 {
	v, n := binary.Uvarint(r.B)
	if n <= 0 {
		r.Take(-1)
		return 0
	}
	r.B = r.B[n:]
	return v
}

// Varint reads a zigzag varint, the integer encoding of record batches.
func (r *Reader) Varint() int64 {
	u := r.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// Count checks the length n of an array whose elements have at least size bytes each: they must fit in the remaining
// bytes.
func (r *Reader) Count(n, size int64) int {
	if r.Err != nil || n < 0 || n*size > int64(len(r.B)) || n > int64(len(r.B)) {
		r.Take(-1)
		return 0
	}
	return int(n)
}

// Tags skips the tagged fields of a flexible structure.
func (r *Reader) Tags() {
	for n := r.Count(int64(min(r.uvarint(), 1<<31)), 2); n > 0; n-- {
		r.uvarint()
		r.Take(int(min(r.uvarint(), 1<<31)))
	}
}

// Nullable takes bytes with a varint length before them; −1 is nil.
func (r *Reader) Nullable() []byte {
	n := r.Varint()
	if n == -1 {
		return nil
	}
	if n < 0 || n > int64(len(r.B)) {
		r.Take(-1)
		return nil
	}
	return r.Take(int(n))
}
