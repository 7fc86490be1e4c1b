package decision

import (
	"encoding/binary"
)

// Tags of decision.proto: the number of a field and its wire type (protobuf.dev, Encoding).
const (
	varint, fixed64, delimited, fixed32 = 0, 1, 2, 5

	tagStream      = 1<<3 | delimited
	tagIncarnation = 2<<3 | delimited
	tagIndex       = 3<<3 | varint
	tagStep        = 4<<3 | varint
	tagDecision    = 5<<3 | delimited
	tagSparse      = 6<<3 | delimited
	tagMechanism   = 7<<3 | delimited
	tagWindow      = 8<<3 | varint
	tagBatch       = 9<<3 | varint
	tagEpsilon     = 10<<3 | fixed64
	tagDelta       = 11<<3 | fixed64
	tagAdjacency   = 12<<3 | varint
	tagUnit        = 13<<3 | varint
	tagMembers     = 14<<3 | delimited
	fields         = 14

	tagDimension   = 1<<3 | varint // tags of Sparse: this one and the next two
	tagValues      = 2<<3 | delimited
	tagIndices     = 3<<3 | delimited
	tagCoordinates = 1<<3 | delimited // the only tag of Coordinates

	tagName       = 1<<3 | delimited // tags of Member: this one and the next four
	tagNumber     = 2<<3 | fixed64
	tagNumbers    = 3<<3 | delimited
	tagText       = 4<<3 | delimited
	tagList       = 5<<3 | delimited
	tagNumberList = 1<<3 | delimited // the only tag of Numbers
	tagEntries    = 1<<3 | delimited // the only tag of List

	tagEntryName = 1<<3 | delimited // tags of Entry: this one and the next three
	tagCount     = 2<<3 | varint
	tagLow       = 3<<3 | varint
	tagHigh      = 4<<3 | varint
)

// firstMessage is the byte by which Confluent's header names the first message of a file.
const firstMessage = 0

// protobufEncoder encodes decisions in Protobuf.
type protobufEncoder struct{}

// header returns Confluent's header, followed by the list of indices of the message in its file. The list with the
// single index 0 has a short form.
func (protobufEncoder) header(schemaID uint32) []byte {
	if schemaID == 0 {
		return nil
	}
	return append(confluentHeader(schemaID), firstMessage)
}

func (protobufEncoder) prefix(stream string, incarnation [16]byte) []byte {
	b := appendTextField(nil, tagStream, stream)
	return append(appendSize(b, tagIncarnation, len(incarnation)), incarnation[:]...)
}

func (protobufEncoder) suffix(c Config) []byte {
	b := appendTextField(nil, tagMechanism, c.Mechanism)
	b = appendCount(b, tagWindow, c.Window)
	b = appendCount(b, tagBatch, c.Batch)
	b = appendDoubleField(b, tagEpsilon, c.Epsilon)
	b = appendDoubleField(b, tagDelta, c.Delta)
	b = appendCount(b, tagAdjacency, uint64(code(adjacencyCodes, c.Adjacency))+1)
	return appendCount(b, tagUnit, uint64(code(unitCodes, c.Unit))+1)
}

// name returns the name field of a Member.
func (protobufEncoder) name(extra string) []byte { return appendTextField(nil, tagName, extra) }

func (protobufEncoder) number(name []byte, n uint64) []byte {
	member := append(appendSize(nil, tagMembers, len(name)+1+8), name...)
	return appendDouble(append(member, tagNumber), float64(n))
}

func (protobufEncoder) append(
	e *Encoder, dst []byte, index, step uint64, time int64, point []float64, extras []ExtraValue,
) []byte {
	dst = append(dst, e.prefix...)
	dst = appendCount(dst, tagIndex, index)
	dst = appendCount(dst, tagStep, step)
	if e.bins != nil {
		dst = e.bins.appendProtobuf(dst, point)
	} else {
		dst = appendPacked(dst, tagDecision, point)
	}
	dst = append(dst, e.suffix...)
	for i := range extras {
		kind := e.extras[i].Kind
		dst = appendSize(dst, tagMembers, len(e.names[i])+extras[i].sizeProtobuf(kind))
		dst = append(dst, e.names[i]...)
		dst = extras[i].appendProtobuf(dst, kind)
	}
	dst = append(dst, e.seconds...)
	if time >= 0 {
		dst = append(appendSize(dst, tagMembers, len(e.time)+1+8), e.time...)
		dst = appendDouble(append(dst, tagNumber), float64(time))
	}
	return dst
}

// sizeProtobuf returns how many bytes appendProtobuf appends.
func (v *ExtraValue) sizeProtobuf(kind ExtraKind) int {
	switch kind {
	case ExtraNumber:
		return 1 + 8
	case ExtraNumbers:
		return sizeField(sizePacked(len(v.Numbers)))
	case ExtraList:
		return sizeField(sizeList(v.List))
	default: // ExtraText, the only other kind that checkExtras accepts
		return sizeField(sizeUTF8(v.Text))
	}
}

// appendProtobuf appends the value of a Member. A field of a oneof is written even if it is zero.
func (v *ExtraValue) appendProtobuf(dst []byte, kind ExtraKind) []byte {
	switch kind {
	case ExtraNumber:
		return appendDouble(append(dst, tagNumber), v.Number)
	case ExtraNumbers:
		dst = appendSize(dst, tagNumbers, sizePacked(len(v.Numbers)))
		return appendPacked(dst, tagNumberList, v.Numbers)
	case ExtraList:
		dst = appendSize(dst, tagList, sizeList(v.List))
		for i := range v.List {
			x := &v.List[i]
			dst = appendTextField(appendSize(dst, tagEntries, x.sizeProtobuf()), tagEntryName, x.Name)
			dst = appendCount(appendCount(appendCount(dst, tagCount, x.Count), tagLow, x.Low), tagHigh, x.High)
		}
		return dst
	default:
		return appendUTF8(appendSize(dst, tagText, sizeUTF8(v.Text)), v.Text)
	}
}

// sizeList returns how many bytes the message List takes.
func sizeList(list []Entry) (size int) {
	for i := range list {
		size += sizeField(list[i].sizeProtobuf())
	}
	return size
}

// sizeProtobuf returns how many bytes the message Entry takes.
func (x *Entry) sizeProtobuf() int {
	size := sizeCount(x.Count) + sizeCount(x.Low) + sizeCount(x.High)
	if x.Name != "" {
		size += sizeField(sizeUTF8(x.Name))
	}
	return size
}

// sizeCount returns how many bytes appendCount appends.
func sizeCount(n uint64) int {
	if n == 0 {
		return 0
	}
	return 1 + sizeUvarint(n)
}

// appendProtobuf appends the field sparse.
func (s *bins) appendProtobuf(dst []byte, point []float64) []byte {
	values := s.sort(point)
	size := sizePacked(values)
	if len(point) > 0 {
		size += 1 + sizeUvarint(uint64(len(point)))
	}
	for rest := s.sorted; len(rest) > 0; rest = rest[equal(rest):] {
		size += sizeField(sizeField(sizeIndices(rest[:equal(rest)])))
	}
	dst = appendSize(dst, tagSparse, size)
	dst = appendCount(dst, tagDimension, uint64(len(point)))
	if values > 0 {
		dst = appendSize(dst, tagValues, 8*values)
	}
	for rest := s.sorted; len(rest) > 0; rest = rest[equal(rest):] {
		dst = appendDouble(dst, rest[0].value)
	}
	for rest := s.sorted; len(rest) > 0; rest = rest[equal(rest):] {
		same := rest[:equal(rest)]
		dst = appendSize(dst, tagIndices, sizeField(sizeIndices(same)))
		dst = appendSize(dst, tagCoordinates, sizeIndices(same))
		for _, b := range same {
			dst = binary.AppendUvarint(dst, uint64(b.index))
		}
	}
	return dst
}

func sizeIndices(same []bin) (size int) {
	for _, b := range same {
		size += sizeUvarint(uint64(b.index))
	}
	return size
}

// appendCount appends a whole number, and nothing for 0.
func appendCount(dst []byte, tag byte, n uint64) []byte {
	if n == 0 {
		return dst
	}
	return binary.AppendUvarint(append(dst, tag), n)
}

// appendDoubleField appends a number, and nothing for 0.
func appendDoubleField(dst []byte, tag byte, x float64) []byte {
	if x == 0 {
		return dst
	}
	return appendDouble(append(dst, tag), x)
}

// appendTextField appends a text, and nothing for an empty one.
func appendTextField(dst []byte, tag byte, s string) []byte {
	if s == "" {
		return dst
	}
	return appendUTF8(appendSize(dst, tag, sizeUTF8(s)), s)
}

// appendPacked appends a list of numbers, and nothing for an empty one.
func appendPacked(dst []byte, tag byte, numbers []float64) []byte {
	if len(numbers) == 0 {
		return dst
	}
	return appendDoubles(appendSize(dst, tag, 8*len(numbers)), numbers)
}

// sizePacked returns how many bytes appendPacked appends for that many numbers.
func sizePacked(numbers int) int {
	if numbers == 0 {
		return 0
	}
	return sizeField(8 * numbers)
}

// appendSize starts a field of size bytes.
func appendSize(dst []byte, tag byte, size int) []byte {
	return binary.AppendUvarint(append(dst, tag), uint64(size))
}

// sizeField returns the encoded length of a field with size bytes of content.
func sizeField(size int) int { return 1 + sizeUvarint(uint64(size)) + size }
