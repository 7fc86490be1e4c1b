package state

import (
	"encoding/binary"
	"fmt"
	"math"

	"golang.org/x/crypto/chacha20poly1305"
)

// StatusRow holds the statuses of the offsets [From, To) of one incarnation, one byte for each. The offsets belong to
// the input's partition, or to the merged log of a whole topic. The caller defines the meaning of a status. Only the
// number of statuses, To − From, is visible to others.
type StatusRow struct {
	From, To int64 // public offsets: stored in clear, and authenticated
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
	rowHeader   = 2 + 16 + 4 + 4 + 8 + 8 // header of format 1; format 2 has the stretches after their count
	rowOverhead = rowHeader + len(nonce{}) + chacha20poly1305.Overhead + checksumSize
	stretchSize = 4 + 8 + 4

	// MaxStatuses is the largest number of statuses in one row: half of a broker's default limit of 1 MiB, so that a
	// row with its overhead fits in a batch with other records. MaxStretches take half as many bytes in addition.
	MaxStatuses  = 512 << 10
	MaxStretches = MaxStatuses / 2 / stretchSize
)

// Cut splits r after the offsets that fit in one sealed row. The first part is never empty if r is not; rest is empty
// if all of r fits. Both share memory with r, except for a stretch that is split in two.
func (r StatusRow) Cut() (first, rest StatusRow) {
	n, first, rest := int64(min(len(r.Statuses), MaxStatuses)), r, r
	if len(r.Stretches) > 0 {
		n, first.Stretches, rest.Stretches = cutStretches(r.Stretches, n)
	}
	first.To, rest.From = r.From+n, r.From+n
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
//	format u8 ‖ kind u8 ‖ incarnation 16 ‖ partition i32 ‖ key version u32 ‖ from i64 ‖ to i64
//	‖ [number of stretches u32 ‖ (partition i32 ‖ from i64 ‖ offsets u32) for each]
//	‖ nonce 24 ‖ statuses, encrypted ‖ tag 16 ‖ CRC-32C u32
//
// The fields in brackets are in format 2, which rows with stretches have. A row is sealed as a state is:
// XChaCha20-Poly1305 under the seal key with a random nonce; the associated data are everything before the nonce, then
// the stream's name after its length. SealStatuses panics on a bug of the caller: no statuses, more than MaxStatuses or
// MaxStretches, or stretches whose length differs from the number of statuses.
func (s *Sealer) SealStatuses(dst []byte, row StatusRow) []byte {
	return s.sealStatuses(dst, newNonce(), row)
}

func (s *Sealer) sealStatuses(dst []byte, n nonce, row StatusRow) []byte {
	width := len(row.Statuses)
	if width == 0 || width > MaxStatuses || row.To-row.From != int64(width) {
		panic(fmt.Sprintf("BUG: state: row of %d statuses for offsets %d to %d, want 1 to %d", width, row.From, row.To, MaxStatuses))
	}
	if row.Stretches != nil && !row.covered() {
		panic(fmt.Sprintf("BUG: state: %d stretches do not cover a row of %d statuses", len(row.Stretches), width))
	}
	start := len(dst)
	dst = s.appendOwner(dst, KindStatuses)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(row.From))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(row.To))
	if row.Stretches != nil {
		dst[start] = format2
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(row.Stretches)))
		for _, s := range row.Stretches {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(s.Partition))
			dst = binary.LittleEndian.AppendUint64(dst, uint64(s.From))
			dst = binary.LittleEndian.AppendUint32(dst, uint32(s.To-s.From))
		}
	}
	return s.close(dst, start, n, row.Statuses)
}

// covered reports whether the stretches have as many offsets as the row, in canonical form: none is empty, and none
// starts where its predecessor ends in the same partition.
func (r StatusRow) covered() bool {
	if len(r.Stretches) > MaxStretches {
		return false
	}
	left := r.To - r.From
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
	r, err := unframe(value, KindStatuses)
	if err != nil {
		return StatusRow{}, err
	}
	id, partition, keyVersion := r.array16(), int32(r.uint32()), r.uint32()
	row := r.row()
	header := value[:r.at]
	n, sealed := r.bytes(len(nonce{})), r.rest()
	width := len(sealed) - chacha20poly1305.Overhead
	if r.bad || row.From < 0 || width < 1 || width > MaxStatuses || row.To-row.From != int64(width) {
		return StatusRow{}, malformed(KindStatuses)
	}
	if err := s.incarnation.belongs(KindStatuses, id, partition, keyVersion); err != nil {
		return StatusRow{}, err
	}
	row.Statuses, err = s.aead().Open(make([]byte, 0, width), n, sealed, s.associated(header))
	if err != nil {
		return StatusRow{}, fmt.Errorf("%w: %v fails authentication", ErrCorrupt, KindStatuses)
	}
	return row, nil
}

// PublicRow returns the public parts of a row, which it cannot authenticate: all fields but the statuses. Errors:
// ErrFormat, ErrCorrupt.
func PublicRow(value []byte) (StatusRow, error) {
	r, err := unframe(value, KindStatuses)
	if err != nil {
		return StatusRow{}, err
	}
	r.bytes(16 + 4 + 4) // incarnation, partition and key version
	row := r.row()
	if r.bad {
		return StatusRow{}, malformed(KindStatuses)
	}
	return row, nil
}

// row reads the public offsets of a row.
func (r *reader) row() StatusRow {
	row := StatusRow{From: int64(r.uint64()), To: int64(r.uint64())}
	if r.format >= format2 {
		row.Stretches = r.stretches()
		r.bad = r.bad || !row.covered()
	}
	return row
}

// stretches returns the stretches of a row, which follow their number. The number is first compared with the remaining
// bytes.
func (r *reader) stretches() []Stretch {
	n := r.uint32()
	if uint64(n)*stretchSize > uint64(len(r.record)-r.at) {
		r.bad = true
		return nil
	}
	all := make([]Stretch, n)
	for i := range all {
		s := Stretch{Partition: int32(r.uint32()), From: int64(r.uint64())}
		length := int64(r.uint32())
		if s.From > math.MaxInt64-length {
			r.bad = true
			return nil
		}
		s.To = s.From + length
		all[i] = s
	}
	return all
}
