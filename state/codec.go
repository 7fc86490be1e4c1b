package state

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
	KindManifest    Kind = 1 // the deployment's manifest
	KindIncarnation Kind = 2 // a stream's incarnation
	KindState       Kind = 3 // a stream's sealed state
	KindPart        Kind = 4 // one part of a sealed state that exceeds a record
	kindIdentity    Kind = 5 // the owner of a local store
	KindStatuses    Kind = 6 // a row of a stream's record statuses
	KindSchemas     Kind = 7 // writers' schemas of a stream
	KindAmendment   Kind = 8 // params appended to a stream since its opening
)

var kindNames = [...]string{
	"", "manifest", "incarnation", "sealed state", "part of a sealed state", "store identity", "row of verdicts",
	"record of schemas", "amendment",
}

// String returns the name of the kind in error texts.
func (k Kind) String() string {
	if k == 0 || int(k) >= len(kindNames) {
		return fmt.Sprintf("kind %d", uint8(k))
	}
	return kindNames[k]
}

// Record is one record of a partition. Its key is the changelog's: a hash, see NameKey.Key.
type Record struct{ Key, Value []byte }

const (
	checksumSize = 4
	frameSize    = 2 + checksumSize // format, kind, checksum
)

// castagnoli detects every burst up to 32 bits and is computed by the CPU on amd64 and arm64. It protects against
// accidents, not against adversaries.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func appendHeader(dst []byte, k Kind) []byte { return append(dst, format1, byte(k)) }

// appendChecksum appends the checksum of the record that starts at dst[start:].
func appendChecksum(dst []byte, start int) []byte {
	return binary.LittleEndian.AppendUint32(dst, crc32.Checksum(dst[start:], castagnoli))
}

func appendVariable[T string | []byte](dst []byte, b T) []byte {
	return append(binary.LittleEndian.AppendUint32(dst, uint32(len(b))), b...)
}

// unframe checks format, kind and checksum of b, in this order, because the format determines the position of the
// checksum. The reader starts after the header and ends before the checksum.
func unframe(b []byte, k Kind) (reader, error) {
	if len(b) < frameSize {
		return reader{}, fmt.Errorf("%w: %v has %d bytes", ErrCorrupt, k, len(b))
	}
	if !reads(k, b[0]) {
		return reader{}, fmt.Errorf("%w: %v has format %d, this version reads formats up to %d; start the version that wrote it",
			ErrFormat, k, b[0], newest(k))
	}
	if Kind(b[1]) != k {
		return reader{}, fmt.Errorf("%w: found a %v where a %v belongs", ErrFormat, Kind(b[1]), k)
	}
	end := len(b) - checksumSize
	if crc32.Checksum(b[:end], castagnoli) != binary.LittleEndian.Uint32(b[end:]) {
		return reader{}, fmt.Errorf("%w: %v does not match its checksum", ErrCorrupt, k)
	}
	return reader{format: b[0], record: b[:end], at: 2}, nil
}

// reader reads the fields of a record. A field beyond the end sets bad; from then on all fields are zero.
type reader struct {
	format byte
	record []byte
	at     int
	bad    bool
}

// bytes returns the next n bytes without copying them.
func (r *reader) bytes(n int) []byte {
	if r.bad || n > len(r.record)-r.at {
		r.bad = true
		return nil
	}
	b := r.record[r.at : r.at+n : r.at+n]
	r.at += n
	return b
}

func (r *reader) uint8() uint8 {
	if b := r.bytes(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) uint32() uint32 {
	if b := r.bytes(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) uint64() uint64 {
	if b := r.bytes(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) array16() (a [16]byte) {
	copy(a[:], r.bytes(16))
	return a
}

func (r *reader) array32() (a [32]byte) {
	copy(a[:], r.bytes(32))
	return a
}

// variable returns a field that follows its length. The length is first compared with the number of remaining bytes.
func (r *reader) variable() []byte {
	n := r.uint32()
	if uint64(n) > uint64(len(r.record)-r.at) {
		r.bad = true
		return nil
	}
	return r.bytes(int(n))
}

// rest returns the remaining bytes.
func (r *reader) rest() []byte { return r.bytes(len(r.record) - r.at) }

// malformed returns the error for a record with a correct checksum and inconsistent fields.
func malformed(k Kind) error {
	return fmt.Errorf("%w: fields of the %v do not add up to its length", ErrCorrupt, k)
}
