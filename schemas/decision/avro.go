package decision

import (
	"encoding/binary"
	"math"
)

// avroHeader starts a record in Avro's single-object encoding (Avro specification 1.12, "Single-object encoding"): a
// marker, and the CRC-64-AVRO fingerprint of decision.avsc, by which readers find the schema.
const avroHeader = "\xc3\x01\xbb\x5c\xec\x5d\xc4\xa1\xd7\xc0"

// avroEncoder encodes decisions in Avro.
type avroEncoder struct{}

func (avroEncoder) header(schemaID uint32) []byte {
	if schemaID == 0 {
		return []byte(avroHeader)
	}
	return confluentHeader(schemaID)
}

func (avroEncoder) prefix(stream string, incarnation [16]byte) []byte {
	return append(appendAvroText(nil, stream), incarnation[:]...)
}

func (avroEncoder) suffix(c Config) []byte {
	b := appendAvroText(nil, c.Mechanism)
	b = appendLong(b, c.Window)
	b = appendLong(b, c.Batch)
	b = appendDouble(b, c.Epsilon)
	b = appendDouble(b, c.Delta)
	b = appendLong(b, uint64(code(adjacencyCodes, c.Adjacency)))
	return appendLong(b, uint64(code(unitCodes, c.Unit)))
}

func (avroEncoder) name(extra string) []byte { return appendAvroText(nil, extra) }

func (avroEncoder) number(name []byte, n uint64) []byte {
	return appendDouble(appendLong(name, branchNumber), float64(n))
}

// Branches of the unions of decision.avsc.
const (
	branchDense, branchSparse = 0, 1

	branchNumber, branchNumbers, branchText, branchList = 0, 1, 2, 3
)

func (avroEncoder) append(
	e *Encoder, dst []byte, index, step uint64, time int64, point []float64, extras []ExtraValue,
) []byte {
	dst = append(dst, e.prefix...)
	dst = appendLong(dst, index)
	dst = appendLong(dst, step)
	if e.bins != nil {
		dst = e.bins.appendAvro(appendLong(dst, branchSparse), point)
	} else {
		dst = appendAvroNumbers(appendLong(dst, branchDense), point)
	}
	dst = append(dst, e.suffix...)
	members := len(extras)
	if e.seconds != nil {
		members++
	}
	if time >= 0 {
		members++
	}
	if members > 0 {
		dst = appendLong(dst, uint64(members))
	}
	for i := range extras {
		dst = append(dst, e.names[i]...)
		dst = extras[i].appendAvro(dst, e.extras[i].Kind)
	}
	dst = append(dst, e.seconds...)
	if time >= 0 {
		dst = appendDouble(appendLong(append(dst, e.time...), branchNumber), float64(time))
	}
	return append(dst, endOfList)
}

func (v *ExtraValue) appendAvro(dst []byte, kind ExtraKind) []byte {
	switch kind {
	case ExtraNumber:
		return appendDouble(appendLong(dst, branchNumber), v.Number)
	case ExtraNumbers:
		return appendAvroNumbers(appendLong(dst, branchNumbers), v.Numbers)
	case ExtraList:
		return appendAvroList(appendLong(dst, branchList), v.List)
	default: // ExtraText, the only other kind that checkExtras accepts
		return appendAvroText(appendLong(dst, branchText), v.Text)
	}
}

// appendAvroList appends the record List.
func appendAvroList(dst []byte, list []Entry) []byte {
	if len(list) > 0 {
		dst = appendLong(dst, uint64(len(list)))
	}
	for i := range list {
		x := &list[i]
		dst = appendLong(appendLong(appendLong(appendAvroText(dst, x.Name), x.Count), x.Low), x.High)
	}
	return append(dst, endOfList)
}

// appendAvro appends the record Sparse.
func (s *bins) appendAvro(dst []byte, point []float64) []byte {
	values := s.sort(point)
	dst = appendLong(dst, uint64(len(point)))
	if values > 0 {
		dst = appendLong(dst, uint64(values))
	}
	for rest := s.sorted; len(rest) > 0; rest = rest[equal(rest):] {
		dst = appendDouble(dst, rest[0].value)
	}
	dst = append(dst, endOfList)
	if values > 0 {
		dst = appendLong(dst, uint64(values))
	}
	for rest := s.sorted; len(rest) > 0; rest = rest[equal(rest):] {
		same := rest[:equal(rest)]
		dst = appendLong(dst, uint64(len(same)))
		for _, b := range same {
			dst = appendLong(dst, uint64(b.index))
		}
		dst = append(dst, endOfList)
	}
	return append(dst, endOfList)
}

// endOfList is the count of zero elements, which ends a list. The elements come before it, after their count.
const endOfList = 0

// appendLong appends a long (zigzag). n must not exceed MaxInt64.
func appendLong(dst []byte, n uint64) []byte {
	if n > math.MaxInt64 {
		panic("BUG: schemas: a whole number of a decision is above Avro's largest")
	}
	return binary.AppendUvarint(dst, 2*n)
}

func appendAvroText(dst []byte, s string) []byte {
	return appendUTF8(appendLong(dst, uint64(sizeUTF8(s))), s)
}

func appendAvroNumbers(dst []byte, numbers []float64) []byte {
	if len(numbers) > 0 {
		dst = appendDoubles(appendLong(dst, uint64(len(numbers))), numbers)
	}
	return append(dst, endOfList)
}
