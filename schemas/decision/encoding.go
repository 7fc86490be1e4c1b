package decision

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// Encoding is the encoding of the decisions in a topic. Each encoding contains all members of a decision, and gives
// exactly one byte sequence for each decision. The first byte distinguishes the encodings.
type Encoding uint8

const (
	JSON     Encoding = iota // one line of text
	Protobuf                 // a message of decision.proto
	Avro                     // a record of decision.avsc, in Avro's single-object encoding
)

// Encodings holds the names of the encodings, by number.
var Encodings = [...]string{JSON: "json", Protobuf: "protobuf", Avro: "avro"}

// ParseEncoding returns the encoding with this name.
func ParseEncoding(name string) (e Encoding, ok bool) {
	i := slices.Index(Encodings[:], name)
	return Encoding(max(i, 0)), i >= 0
}

// First bytes of decisions.
const (
	startOfJSON     = '{'
	startOfProtobuf = tagStream // tag of the first field, whose text is never empty
	startOfAvro     = 0xc3
	startOfHeader   = 0 // start of Confluent's header with the id of a schema
)

// confluentHeader returns the header that names a schema of a registry (Confluent Schema Registry, "Wire format"): a
// zero, and the schema's id.
func confluentHeader(schemaID uint32) []byte {
	return binary.BigEndian.AppendUint32([]byte{startOfHeader}, schemaID)
}

// cutHeader splits Confluent's header from a decision, and returns the encoding. An Avro record starts with a text that
// is not empty, so its first byte differs from the byte that names the first message in Protobuf.
func cutHeader(b []byte) (e Encoding, schemaID uint32, rest []byte) {
	if len(b) < 6 {
		return JSON, 0, nil
	}
	schemaID, rest = binary.BigEndian.Uint32(b[1:]), b[5:]
	if rest[0] == firstMessage {
		return Protobuf, schemaID, rest[1:]
	}
	return Avro, schemaID, rest
}

// Codes of adjacencies and units in Protobuf and Avro are indices of these lists. Protobuf counts them from 1.
var (
	adjacencyCodes = []string{"replace", "zero-out", "add-remove"}
	unitCodes      = []string{"event", "user", "user-period"}
)

// code returns the index of a name in a list of codes.
func code(codes []string, name string) int {
	i := slices.Index(codes, name)
	if i < 0 {
		panic("BUG: schemas: " + name + ": not an adjacency or unit that decision.proto and decision.avsc have")
	}
	return i
}

// appendDouble appends 8 bytes, little-endian. It writes −0 as 0, as JSON does. x must be finite.
func appendDouble(dst []byte, x float64) []byte {
	return binary.LittleEndian.AppendUint64(dst, doubleBits(x))
}

// appendDoubles appends 8 bytes for each number.
func appendDoubles(dst []byte, numbers []float64) []byte {
	start := len(dst)
	dst = slices.Grow(dst, 8*len(numbers))[:start+8*len(numbers)]
	to := dst[start:]
	for _, x := range numbers {
		binary.LittleEndian.PutUint64(to, doubleBits(x))
		to = to[8:]
	}
	return dst
}

func doubleBits(x float64) uint64 {
	b := math.Float64bits(x)
	switch magnitude := b << 1; {
	case magnitude >= 0x7ff<<53:
		panic("BUG: schemas: a number of a decision is not finite")
	case magnitude == 0:
		return 0
	}
	return b
}

// appendUTF8 appends a text with U+FFFD for each byte that is not UTF-8, as the JSON encoding does.
func appendUTF8(dst []byte, s string) []byte {
	for _, r := range s {
		dst = utf8.AppendRune(dst, r)
	}
	return dst
}

// sizeUTF8 returns how many bytes appendUTF8 appends.
func sizeUTF8(s string) (size int) {
	for _, r := range s {
		size += utf8.RuneLen(r)
	}
	return size
}

// sizeUvarint returns how many bytes binary.AppendUvarint appends.
func sizeUvarint(n uint64) int { return (bits.Len64(n|1) + 6) / 7 }
