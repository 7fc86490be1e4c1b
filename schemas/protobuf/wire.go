package protobuf

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// Wire types of Protobuf's encoding.
const (
	wireVarint     = 0
	wireFixed64    = 1
	wireBytes      = 2
	wireStartGroup = 3
	wireEndGroup   = 4
	wireFixed32    = 5
)

// maxGroups bounds the nesting of skipped groups.
const maxGroups = 64

// maxNumber is the greatest number of a field.
const maxNumber = 1<<29 - 1

// tag reads a field's number and wire type at b[i]; next is −1 if there is none.
func tag(b []byte, i int) (number uint64, wire uint8, next int) {
	v, next := varint(b, i)
	number = v >> 3
	if next < 0 || number < 1 || number > maxNumber {
		return 0, 0, -1
	}
	return number, uint8(v & 7), next
}

// varint reads an unsigned number of at most 64 bits; next is −1 if there is none.
func varint(b []byte, i int) (v uint64, next int) {
	if i < len(b) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	for shift := 0; i < len(b) && shift < 64; shift += 7 {
		c := b[i]
		i++
		if shift == 63 && c > 1 {
			return 0, -1
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v, i
		}
	}
	return 0, -1
}

// bytesAt returns the bounds of the bytes after a length at b[i]; to is −1 if they exceed b.
func bytesAt(b []byte, i int) (from, to int) {
	n, from := varint(b, i)
	if from < 0 || n > uint64(len(b)-from) {
		return 0, -1
	}
	return from, from + int(n)
}

// skip skips the value of a field.
func skip(b []byte, i int, number uint64, wire uint8) (next int, code text.Code) {
	if wire != wireStartGroup {
		if next = skipScalar(b, i, wire); next < 0 {
			return 0, text.Malformed
		}
		return next, text.OK
	}
	var open [maxGroups]uint64
	open[0] = number
	for depth := 1; depth > 0; {
		number, wire, at := tag(b, i)
		switch i = at; {
		case at < 0:
			return 0, text.Malformed
		case wire == wireStartGroup && depth == maxGroups:
			return 0, text.TooDeep
		case wire == wireStartGroup:
			open[depth] = number
			depth++
		case wire == wireEndGroup && open[depth-1] != number:
			return 0, text.Malformed
		case wire == wireEndGroup:
			depth--
		default:
			if i = skipScalar(b, at, wire); i < 0 {
				return 0, text.Malformed
			}
		}
	}
	return i, text.OK
}

// skipScalar skips a value that is not a group; it returns −1 if there is none.
func skipScalar(b []byte, i int, wire uint8) int {
	width := 0
	switch wire {
	case wireVarint:
		_, next := varint(b, i)
		return next
	case wireBytes:
		_, next := bytesAt(b, i)
		return next
	case wireFixed64:
		width = 8
	case wireFixed32:
		width = 4
	default:
		return -1
	}
	if len(b)-i < width {
		return -1
	}
	return i + width
}

// scalar reads a number, text or similar value at b[i]. If a field is set several times the last value counts.
func (s *Source) scalar(f *field, place int32, b []byte, i int) (next int, code text.Code) {
	v := &s.values[place]
	switch f.wire {
	case wireVarint:
		var u uint64
		if u, next = varint(b, i); next < 0 {
			return 0, text.Malformed
		}
		if f.as == asEnum {
			*v = s.symbol(f, place, int32(u))
		} else {
			f.setVarint(v, u)
		}
	case wireFixed32:
		if len(b)-i < 4 {
			return 0, text.Malformed
		}
		next = i + 4
		setNumber(v, f.fixed32(binary.LittleEndian.Uint32(b[i:])))
	case wireFixed64:
		if len(b)-i < 8 {
			return 0, text.Malformed
		}
		next = i + 8
		setNumber(v, f.fixed64(binary.LittleEndian.Uint64(b[i:])))
	default:
		from, to := bytesAt(b, i)
		if to < 0 {
			return 0, text.Malformed
		}
		if !utf8.Valid(b[from:to]) {
			return 0, text.InvalidUTF8
		}
		next = to
		*v = mapping.Value{Kind: mapping.Text, Text: b[from:to]}
	}
	return next, text.OK
}

func setNumber(v *mapping.Value, f float64) { *v = mapping.Value{Kind: mapping.Number, Number: f} }

// setVarint sets a value from a varint. A 32-bit field takes the low 32 bits, as in all readers.
func (f *field) setVarint(v *mapping.Value, u uint64) {
	switch f.as {
	case asInt32:
		setNumber(v, float64(int32(u)))
	case asInt64:
		setNumber(v, float64(int64(u)))
	case asUint32:
		setNumber(v, float64(uint32(u)))
	case asUint64:
		setNumber(v, float64(u))
	case asSint32:
		setNumber(v, float64(int32(uint32(u)>>1)^-int32(u&1)))
	case asSint64:
		setNumber(v, float64(int64(u>>1)^-int64(u&1)))
	case asBool:
		*v = mapping.Truth(u != 0)
	case asSeconds:
		v.Seconds = int64(u)
	case asNanos, asDate:
		v.Nanos = int32(u)
	case asYear:
		v.Seconds = int64(int32(u))
	case asMonth:
		v.Number = float64(int32(u))
	default:
		panic("BUG: protobuf: not a varint")
	}
}

func (f *field) fixed32(u uint32) float64 {
	switch f.as {
	case asFixed32:
		return float64(u)
	case asSfixed32:
		return float64(int32(u))
	default:
		return float64(math.Float32frombits(u))
	}
}

func (f *field) fixed64(u uint64) float64 {
	switch f.as {
	case asFixed64:
		return float64(u)
	case asSfixed64:
		return float64(int64(u))
	default:
		return math.Float64frombits(u)
	}
}
