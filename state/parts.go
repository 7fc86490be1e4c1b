package state

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"oriel/state/frame"
)

// MaxValue is the largest value that is written to a topic as one record: 1 MiB, a broker's default limit, less 64 KiB
// for key, headers and batch.
const MaxValue = 1<<20 - 64<<10

const (
	partHeader   = 2 + 1 + 1 + 4 + sha256.Size
	partOverhead = partHeader + frame.ChecksumSize
	partData     = MaxValue - partOverhead
	maxParts     = 255 // because the part's index is one byte of its content and of its key's suffix
)

// Parts splits a sealed state into values of at most MaxValue bytes. A state that fits is returned unchanged as the
// only part. Otherwise each part is
//
//	format u8 ‖ kind u8 ‖ index u8 ‖ count u8 ‖ length of the state u32 ‖ SHA-256 of the state 32 ‖ slice ‖ CRC-32C u32
//
// so that parts of two states never join, because two sealed states differ at least in their nonces. The digest needs
// no key, because Sealer.Open authenticates the result of Join. Parts panics for more than 255 parts (about 238 MiB),
// so a configuration with such states must be refused earlier.
func Parts(value []byte) [][]byte {
	if len(value) <= MaxValue {
		return [][]byte{value}
	}
	count := (len(value) + partData - 1) / partData
	if count > maxParts {
		panic(fmt.Sprintf("BUG: state: sealed state has %d bytes, want at most %d", len(value), maxParts*partData))
	}
	digest := sha256.Sum256(value)
	parts := make([][]byte, 0, count)
	for index := range count {
		data := value[index*partData : min((index+1)*partData, len(value))]
		b := make([]byte, 0, len(data)+partOverhead)
		b = append(frame.AppendHeader(b, frame.KindPart), byte(index), byte(count))
		b = binary.LittleEndian.AppendUint32(b, uint32(len(value)))
		b = append(b, digest[:]...)
		b = append(b, data...)
		parts = append(parts, frame.AppendChecksum(b, 0))
	}
	return parts
}

// PartKey returns the key of part index, given the key of the state: the first part has the state's key, later parts
// have it with their index appended as one byte.
func PartKey(key []byte, index int) []byte {
	if index < 0 || index >= maxParts {
		panic(fmt.Sprintf("BUG: state: part %d, want 0 to %d", index, maxParts-1))
	}
	if index == 0 {
		return key
	}
	return append(key[:len(key):len(key)], byte(index))
}

// PartCount returns the number of parts of a state, given the first part, so that the caller knows which keys to read.
func PartCount(first []byte) (int, error) {
	if len(first) < 2 || frame.Kind(first[1]) != frame.KindPart {
		return 1, nil // an unsplit record; if it is no state, Sealer.Open reports it
	}
	p, err := parsePart(first)
	return p.count, err
}

// Join reverses Parts. It must get all parts of one state, in order. Errors: ErrFormat, ErrCorrupt.
func Join(parts [][]byte) ([]byte, error) {
	if len(parts) == 0 {
		return nil, fmt.Errorf("%w: sealed state without parts", frame.ErrCorrupt)
	}
	if count, err := PartCount(parts[0]); err != nil {
		return nil, err
	} else if count != len(parts) {
		return nil, fmt.Errorf("%w: sealed state has %d parts, found %d", frame.ErrCorrupt, count, len(parts))
	}
	if len(parts) == 1 && (len(parts[0]) < 2 || frame.Kind(parts[0][1]) != frame.KindPart) {
		return parts[0], nil
	}
	var first part
	whole := make([]byte, 0, len(parts)*partData)
	for index, b := range parts {
		p, err := parsePart(b)
		if err != nil {
			return nil, err
		}
		if index == 0 {
			first = p
		}
		if p.index != index || p.count != first.count || p.length != first.length || p.digest != first.digest {
			return nil, fmt.Errorf("%w: part %d of %d is not of the same sealed state", frame.ErrCorrupt, index, len(parts))
		}
		whole = append(whole, p.data...)
	}
	if len(whole) != first.length || sha256.Sum256(whole) != first.digest {
		return nil, fmt.Errorf("%w: parts do not add up to their sealed state", frame.ErrCorrupt)
	}
	return whole, nil
}

type part struct {
	index, count, length int
	digest               [32]byte
	data                 []byte
}

// parsePart also checks that the part has the length that Parts gives it, which bounds the memory that Join allocates.
func parsePart(b []byte) (part, error) {
	r, err := frame.Open(b, frame.KindPart)
	if err != nil {
		return part{}, err
	}
	p := part{index: int(r.Uint8()), count: int(r.Uint8()), length: int(r.Uint32()), digest: r.Array32(), data: r.Rest()}
	switch {
	case r.Bad, p.length <= MaxValue, p.count != (p.length+partData-1)/partData, p.index >= p.count,
		len(p.data) != min(partData, p.length-p.index*partData):
		return part{}, frame.Malformed(frame.KindPart)
	}
	return p, nil
}
