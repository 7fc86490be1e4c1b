package state

import (
	"encoding/binary"
	"fmt"
	"strings"

	"golang.org/x/crypto/chacha20poly1305"

	"oriel/state/frame"
	"oriel/state/keys"
)

// Segment is a piece of what belongs to a state but has no bound, so that it is in records of its own. A segment of
// KindUsers has ids of a period's users, in the order of their records. One of KindNames has names of the open step
// with their counts. The segments of a span are numbered from 0, and the state of a stream says how many there are.
//
// Only kind, span, number and length are visible, to those who can read the changelog. The length shows how many users
// or names were new since the state before, so it depends on who is in the input, as the input's own offsets do.
type Segment struct {
	Kind    frame.Kind // KindUsers or KindNames
	Span    uint64     // the period of the users, or the step of the names; stored in clear, and authenticated
	Number  uint32     // stored in clear, and authenticated
	Payload []byte     // 1 to MaxSegment bytes
}

const (
	// MaxSegment is the largest payload of a segment, so that its record has at most 512 KiB.
	MaxSegment = 512<<10 - segmentOverhead

	segmentHeader   = frame.HeaderSize + 16 + 4 + 4 + 8 + 4
	segmentOverhead = segmentHeader + len(keys.Nonce{}) + chacha20poly1305.Overhead + frame.ChecksumSize
	segmentKeySize  = 1 + 16 + 8 + 4
)

// SegmentKey returns the key of a segment in the changelog: kind u8 ‖ incarnation 16 ‖ span u64 ‖ number u32,
// big-endian. It has another length than every other key.
func (s *Sealer) SegmentKey(kind frame.Kind, span uint64, number uint32) []byte {
	key := append([]byte{byte(kind)}, s.incarnation.ID[:]...)
	return binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint64(key, span), number)
}

// IsSegmentKey reports whether a key of the changelog is the key of some segment, of any incarnation.
func IsSegmentKey(key string) bool {
	return len(key) == segmentKeySize && (key[0] == byte(frame.KindUsers) || key[0] == byte(frame.KindNames))
}

// IsSegmentOf reports whether the key of a segment is of the sealer's incarnation, and of a kind and span.
func (s *Sealer) IsSegmentOf(key string, kind frame.Kind, span uint64) bool {
	return strings.HasPrefix(key, string(s.SegmentKey(kind, span, 0)[:segmentKeySize-4]))
}

// SealSegment appends a segment to dst and returns it:
//
//	format u8 ‖ kind u8 ‖ incarnation 16 ‖ partition i32 ‖ key version u32 ‖ span u64 ‖ number u32
//	‖ nonce 24 ‖ payload, encrypted ‖ tag 16 ‖ CRC-32C u32
//
// A segment is sealed as a state is: XChaCha20-Poly1305 under the seal key with a random nonce; the associated data are
// everything before the nonce, then the stream's name after its length. SealSegment panics if the payload is empty, or
// longer than MaxSegment.
func (s *Sealer) SealSegment(dst []byte, x Segment) []byte {
	return s.sealSegment(dst, keys.NewNonce(), x)
}

func (s *Sealer) sealSegment(dst []byte, n keys.Nonce, x Segment) []byte {
	if !x.valid() {
		panic(fmt.Sprintf("BUG: state: a segment of %v with %d bytes", x.Kind, len(x.Payload)))
	}
	start := len(dst)
	dst = s.appendOwner(dst, x.Kind)
	dst = binary.LittleEndian.AppendUint64(dst, x.Span)
	dst = binary.LittleEndian.AppendUint32(dst, x.Number)
	return s.close(dst, start, n, x.Payload)
}

// OpenSegment opens a segment of a kind, of the same incarnation and key version; its payload is a copy. Errors:
// ErrFormat, ErrCorrupt, ErrForeign.
func (s *Sealer) OpenSegment(kind frame.Kind, value []byte) (Segment, error) {
	r, err := frame.Open(value, kind)
	if err != nil {
		return Segment{}, err
	}
	id, partition, keyVersion := r.Array16(), int32(r.Uint32()), r.Uint32()
	x := Segment{Kind: kind, Span: r.Uint64(), Number: r.Uint32()}
	header := r.Read()
	n, sealed := r.Bytes(len(keys.Nonce{})), r.Rest()
	if r.Bad || len(sealed) < chacha20poly1305.Overhead {
		return Segment{}, frame.Malformed(kind)
	}
	if err := s.incarnation.belongs(kind, id, partition, keyVersion); err != nil {
		return Segment{}, err
	}
	payload := make([]byte, 0, len(sealed)-chacha20poly1305.Overhead)
	if x.Payload, err = s.aead().Open(payload, n, sealed, s.associated(header)); err != nil {
		return Segment{}, fmt.Errorf("%w: %v fails authentication", frame.ErrCorrupt, kind)
	}
	if !x.valid() {
		return Segment{}, frame.Malformed(kind)
	}
	return x, nil
}

func (x Segment) valid() bool {
	return (x.Kind == frame.KindUsers || x.Kind == frame.KindNames) && len(x.Payload) > 0 && len(x.Payload) <= MaxSegment
}
