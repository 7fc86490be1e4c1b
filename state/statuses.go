package state

import (
	"encoding/binary"
	"fmt"
	"math"

	"golang.org/x/crypto/chacha20poly1305"

	"oriel/state/frame"
	"oriel/state/keys"
)

// StatusRow holds the statuses of the offsets between two places of one incarnation, one byte for each. The offsets
// belong to the input's partition, or to the merged log of a whole topic. The caller defines the meaning of a status.
// Only the places are visible to others, and so the number of statuses. A row without statuses shows that steps by the
// clock have closed without records.
type StatusRow struct {
	From, To Place // public: stored in clear, and authenticated
	Statuses []byte

	// Stretches list, for the stream of a whole topic, the input offsets that the row covers, in order. They are
	// public. They are nil for the stream of one partition, whose offsets are the input's.
	Stretches []Stretch
}

// Stretch is a run of offsets of one partition of the input.
type Stretch struct {
	Partition int32
	From, To  int64
}

const (
	rowHeader   = frame.HeaderSize + 16 + 4 + 4 + 4*8 + 4 // header of a row without stretches
	rowOverhead = rowHeader + len(keys.Nonce{}) + chacha20poly1305.Overhead + frame.ChecksumSize
	stretchSize = 4 + 8 + 4

	// MaxStatuses is the largest number of statuses in one row: half of a broker's default limit of 1 MiB, so that a
	// row with its overhead fits in a batch with other records. MaxStretches take half as many bytes in addition.
	MaxStatuses  = 512 << 10
	MaxStretches = MaxStatuses / 2 / stretchSize
)

// Cut splits r after the offsets that fit in one sealed row. The first part has offsets if r has some; rest ends where
// it begins if all of r fits. Only the last part closes slots. Both share memory with r, except for a stretch that is
// split in two.
func (r StatusRow) Cut() (first, rest StatusRow) {
	n, first, rest := int64(min(len(r.Statuses), MaxStatuses)), r, r
	if len(r.Stretches) > 0 {
		n, first.Stretches, rest.Stretches = cutStretches(r.Stretches, n)
	}
	if first.To.Next = r.From.Next + n; first.To.Next < r.To.Next {
		first.To.Slot = r.From.Slot
	}
	rest.From = first.To
	first.Statuses, rest.Statuses = r.Statuses[:n:n], r.Statuses[n:]
	return first, rest
}

// cutStretches splits stretches after n offsets, or earlier if a row has no room for more; covered is the number of
// offsets.
func cutStretches(all []Stretch, n int64) (covered int64, first, rest []Stretch) {
	for i, s := range all {
		length := s.To - s.From
		switch {
		case covered == n || i == MaxStretches:
			return covered, all[:i:i], all[i:]
		case length > n-covered:
			first, rest = append(all[:i:i], s), append([]Stretch(nil), all[i:]...)
			first[i].To = s.From + n - covered
			rest[0].From = first[i].To
			return n, first, rest
		}
		covered += length
	}
	return covered, all, nil
}

// SealStatuses appends a row to dst and returns it:
//
//	format u8 ‖ kind u8 ‖ incarnation 16 ‖ partition i32 ‖ key version u32
//	‖ from: slot i64, offset i64 ‖ to: slot i64, offset i64 ‖ number of stretches u32 ‖ (partition i32 ‖ from i64 ‖ offsets u32) for each
//	‖ nonce 24 ‖ statuses, encrypted ‖ tag 16 ‖ CRC-32C u32
//
// A row of one partition has no stretches. A row is sealed as a state is: XChaCha20-Poly1305 under the seal key with a
// random nonce; the associated data are everything before the nonce, then the stream's name after its length.
// SealStatuses panics on a bug of the caller: places that do not ascend, more than MaxStatuses or MaxStretches, or
// stretches whose length differs from the number of statuses.
func (s *Sealer) SealStatuses(dst []byte, row StatusRow) []byte {
	return s.sealStatuses(dst, keys.NewNonce(), row)
}

func (s *Sealer) sealStatuses(dst []byte, n keys.Nonce, row StatusRow) []byte {
	width := len(row.Statuses)
	if !row.ascends(width) {
		panic(fmt.Sprintf("BUG: state: row of %d statuses from %v to %v, at most %d", width, row.From, row.To, MaxStatuses))
	}
	if len(row.Stretches) > 0 && !row.covered() {
		panic(fmt.Sprintf("BUG: state: %d stretches do not cover a row of %d statuses", len(row.Stretches), width))
	}
	start := len(dst)
	dst = s.appendOwner(dst, frame.KindStatuses)
	for _, at := range []Place{row.From, row.To} {
		dst = binary.LittleEndian.AppendUint64(dst, uint64(at.Slot))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(at.Next))
	}
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(row.Stretches)))
	for _, s := range row.Stretches {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(s.Partition))
		dst = binary.LittleEndian.AppendUint64(dst, uint64(s.From))
		dst = binary.LittleEndian.AppendUint32(dst, uint32(s.To-s.From))
	}
	return s.close(dst, start, n, row.Statuses)
}

// ascends reports whether the row can have width statuses: one for each offset, and none only if slots are closed.
func (r StatusRow) ascends(width int) bool {
	return 0 <= r.From.Slot && r.From.Slot <= r.To.Slot && r.From.Next >= 0 && r.From != r.To &&
		width <= MaxStatuses && r.To.Next-r.From.Next == int64(width)
}

// covered reports whether the stretches have as many offsets as the row, in canonical form: none is empty, and none
// starts where its predecessor ends in the same partition.
func (r StatusRow) covered() bool {
	if len(r.Stretches) > MaxStretches {
		return false
	}
	left := r.To.Next - r.From.Next
	for i, s := range r.Stretches {
		length := s.To - s.From
		joins := i > 0 && r.Stretches[i-1].Partition == s.Partition && r.Stretches[i-1].To == s.From
		if s.Partition < 0 || s.From < 0 || s.To <= s.From || length > left || joins {
			return false
		}
		left -= length
	}
	return left == 0
}

// OpenStatuses opens a row of the same incarnation and key version; its statuses are a copy. Errors: ErrFormat,
// ErrCorrupt, ErrForeign.
func (s *Sealer) OpenStatuses(value []byte) (StatusRow, error) {
	r, err := frame.Open(value, frame.KindStatuses)
	if err != nil {
		return StatusRow{}, err
	}
	id, partition, keyVersion := r.Array16(), int32(r.Uint32()), r.Uint32()
	row := readRow(&r)
	header := r.Read()
	n, sealed := r.Bytes(len(keys.Nonce{})), r.Rest()
	width := len(sealed) - chacha20poly1305.Overhead
	if r.Bad || width < 0 || !row.ascends(width) {
		return StatusRow{}, frame.Malformed(frame.KindStatuses)
	}
	if err := s.incarnation.belongs(frame.KindStatuses, id, partition, keyVersion); err != nil {
		return StatusRow{}, err
	}
	row.Statuses, err = s.aead().Open(make([]byte, 0, width), n, sealed, s.associated(header))
	if err != nil {
		return StatusRow{}, fmt.Errorf("%w: %v fails authentication", frame.ErrCorrupt, frame.KindStatuses)
	}
	return row, nil
}

// PublicRow returns the public parts of a row, which it cannot authenticate: all fields but the statuses. Errors:
// ErrFormat, ErrCorrupt.
func PublicRow(value []byte) (StatusRow, error) {
	r, err := frame.Open(value, frame.KindStatuses)
	if err != nil {
		return StatusRow{}, err
	}
	r.Bytes(16 + 4 + 4) // incarnation, partition and key version
	row := readRow(&r)
	if r.Bad {
		return StatusRow{}, frame.Malformed(frame.KindStatuses)
	}
	return row, nil
}

// readRow reads the public places of a row.
func readRow(r *frame.Reader) StatusRow {
	row := StatusRow{
		From: Place{Slot: int64(r.Uint64()), Next: int64(r.Uint64())},
		To:   Place{Slot: int64(r.Uint64()), Next: int64(r.Uint64())},
	}
	n := r.Uint32()
	if r.Bad = r.Bad || uint64(n)*stretchSize > uint64(r.Left()); r.Bad || n == 0 {
		return row
	}
	row.Stretches = make([]Stretch, n)
	for i := range row.Stretches {
		s := Stretch{Partition: int32(r.Uint32()), From: int64(r.Uint64())}
		length := int64(r.Uint32())
		if r.Bad = r.Bad || s.From > math.MaxInt64-length; r.Bad {
			return row
		}
		s.To = s.From + length
		row.Stretches[i] = s
	}
	r.Bad = !row.covered()
	return row
}
