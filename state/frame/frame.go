package frame

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
)

// Kind is the kind of a record. It is the second byte of each record, the AEAD binds it, and NameKey.Key hashes it, so
// that no record can be mistaken for one of another kind.
type Kind uint8

// The kinds of records. Their numbers are stored and must not change.
const (
	KindManifest    Kind = 1  // the deployment's manifest
	KindIncarnation Kind = 2  // a stream's incarnation
	KindState       Kind = 3  // a stream's sealed state
	KindPart        Kind = 4  // one part of a sealed state that exceeds a record
	KindIdentity    Kind = 5  // the owner of a local store
	KindStatuses    Kind = 6  // a row of a stream's record statuses
	KindSchemas     Kind = 7  // writers' schemas of a stream
	KindAmendment   Kind = 8  // params appended to a stream since its opening
	KindUsers       Kind = 9  // a segment of the users of a period
	KindNames       Kind = 10 // a segment of the names of an open step
)

var kindNames = [...]string{
	"", "manifest", "incarnation", "sealed state", "part of a sealed state", "store identity", "row of statuses",
	"record of schemas", "amendment", "segment of a period's users", "segment of an open step's names",
}

// String returns the name of the kind in error texts.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// format is the format of each kind of record, their first byte.
const format = 1

const (
	HeaderSize   = 2 // format and kind
	ChecksumSize = 4
)

// castagnoli detects every burst up to 32 bits and is computed by the CPU on amd64 and arm64. It protects against
// accidents, not against adversaries.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// AppendHeader appends the first bytes of a record of a kind.
func AppendHeader(dst []byte, k Kind) []byte { return append(dst, format, byte(k)) }

// AppendChecksum appends the checksum of the record that starts at dst[start:].
func AppendChecksum(dst []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

// AppendVariable appends a field after its length.
func AppendVariable[T string | []byte](dst []byte, b T) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(b))), b...)
}

// Open checks format, kind and checksum of b. The reader starts after the header and ends before the checksum.
func Open(b []byte, k Kind) (Reader, error) {
	if len(b) < HeaderSize+ChecksumSize {
		return Reader{}, fmt.Errorf("%w: %v has %d bytes", ErrCorrupt, k, len(b))
	}
	if b[0] != format {
		return Reader{}, fmt.Errorf("%w: %v has format %d, this version of Oriel reads format %d; start the version that wrote it",
			ErrFormat, k, b[0], format)
	}
	if Kind(b[1]) != k {
		return Reader{}, fmt.Errorf("%w: found a %v where a %v belongs", ErrFormat, Kind(b[1]), k)
	}
	end := len(b) - ChecksumSize
	if crc32.Checksum(b[:end], castagnoli) != binary.LittleEndian.Uint32(b[end:]) {
		return Reader{}, fmt.Errorf("%w: %v does not match its checksum", ErrCorrupt, k)
	}
	return Reader{record: b[:end], at: HeaderSize}, nil
}

// Reader reads the fields of a record. A field beyond the end sets Bad; from then on all fields are zero.
type Reader struct {
	Bad    bool // the fields do not add up; callers also set it for values out of range
	record []byte
	at     int
}

// Read returns the bytes that were read so far, from the first byte of the record on.
func (r *Reader) Read() []byte { return r.record[:r.at:r.at] }

// Left returns the number of remaining bytes.
func (r *Reader) Left() int { return len(r.record) - r.at }

// Done reports whether the fields end exactly where the record does.
func (r *Reader) Done() bool { return !r.Bad && r.Left() == 0 }

// CutLast removes the last n bytes of the record from the reader and returns them. The fields before them must not have
// been read yet.
func (r *Reader) CutLast(n int) []byte {
	if r.Bad || n > r.Left() {
		r.Bad = true
		return nil
	}
	end := len(r.record) - n
	last := r.record[end:]
	r.record = r.record[:end:end]
	return last
}

// Bytes returns the next n bytes without copying them.
func (r *Reader) Bytes(n int) []byte {
	if r.Bad || n > len(r.record)-r.at {
		r.Bad = true
		return nil
	}
	b := r.record[r.at : r.at+n : r.at+n]
	r.at += n
	return b
}

// Uint8 returns the next field of one byte.
func (r *Reader) Uint8() uint8 {
	if b := r.Bytes(1); b != nil {
		return b[0]
	}
	return 0
}

// Uint32 returns the next field of four bytes.
func (r *Reader) Uint32() uint32 {
	if b := r.Bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

// Uint64 returns the next field of eight bytes.
func (r *Reader) Uint64() uint64 {
	if b := r.Bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Array16 returns the next field of 16 bytes.
func (r *Reader) Array16() (a [16]byte) {
	copy(a[:], r.Bytes(16))
	return a
}

// Array32 returns the next field of 32 bytes.
func (r *Reader) Array32() (a [32]byte) {
	copy(a[:], r.Bytes(32))
	return a
}

// Variable returns a field that follows its length. The length is first compared with the number of remaining bytes.
func (r *Reader) Variable() []byte {
	n := r.Uint32()
	if uint64(n) > uint64(len(r.record)-r.at) {
		r.Bad = true
		return nil
	}
	return r.Bytes(int(n))
}

// Rest returns the remaining bytes.
func (r *Reader) Rest() []byte { return r.Bytes(len(r.record) - r.at) }

// Malformed returns the error for a record with a correct checksum and inconsistent fields.
func Malformed(k Kind) error {
	return fmt.Errorf("%w: fields of the %v do not add up to its length", ErrCorrupt, k)
}
