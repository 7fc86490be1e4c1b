package state

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/chacha20poly1305"
)

// StatusRow says what became of the input's offsets [From, To) in one incarnation, a byte an offset. What the bytes
// mean is the caller's; that there are To − From of them shows, and nothing else.
type StatusRow struct {
	From, To int64 // public: stored in clear, and authenticated
	Verdicts []byte

	// Stretches say which offsets of the input these are in the stream of a whole topic, in order. They are public. Nil
	// for the stream of one partition, whose offsets are the input's.
	Stretches []Stretch
}

// Stretch is a run of offsets of one partition of the input.
type Stretch struct {
	Partition int32
	From, To  int64
}

const (
	rowHeader   = 2 + 16 + 4 + 4 + 8 + 8
	rowOverhead = rowHeader + len(nonce{}) + chacha20poly1305.Overhead + checksumSize

	// MaxVerdicts is the most that one row holds: half of a broker's default limit of 1 MiB, so that a row and what
	// lies around it fit whatever else shares its batch.
	MaxVerdicts = 512 << 10
)

// SealVerdicts appends a row to dst and returns it:
//
//	format u8 ‖ kind u8 ‖ incarnation 16 ‖ partition i32 ‖ key version u32 ‖ from i64 ‖ to i64
//	‖ nonce 24 ‖ verdicts, encrypted ‖ tag 16 ‖ CRC-32C u32
//
// It is sealed as a state is: XChaCha20-Poly1305 under the seal key, a random nonce; associated data = everything
// before the nonce, then the stream's name after its length. More than MaxVerdicts, or none, are a bug and panic.
func (s *Sealer) SealVerdicts(dst []byte, from int64, verdicts []byte) []byte {
	return s.sealVerdicts(dst, newNonce(), from, verdicts)
}

func (s *Sealer) sealVerdicts(dst []byte, n nonce, from int64, verdicts []byte) []byte {
	if len(verdicts) == 0 || len(verdicts) > MaxVerdicts {
		panic(fmt.Sprintf("BUG: state: row of %d verdicts, want 1 to %d", len(verdicts), MaxVerdicts))
	}
	start := len(dst)
	dst = s.appendOwner(dst, KindVerdicts)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(from))
	dst = binary.LittleEndian.AppendUint64(dst, uint64(from+int64(len(verdicts))))
	return s.close(dst, start, n, verdicts)
}

// OpenVerdicts opens a row of the same incarnation and key version; its verdicts are a copy. Errors: ErrFormat,
// ErrCorrupt, ErrForeign.
func (s *Sealer) OpenVerdicts(value []byte) (StatusRow, error) {
	r, err := unframe(value, KindVerdicts)
	if err != nil {
		return StatusRow{}, err
	}
	id, partition, keyVersion := r.array16(), int32(r.uint32()), r.uint32()
	row := StatusRow{From: int64(r.uint64()), To: int64(r.uint64())}
	n, sealed := r.bytes(len(nonce{})), r.rest()
	width := len(sealed) - chacha20poly1305.Overhead
	if r.bad || row.From < 0 || width < 1 || width > MaxVerdicts || row.To-row.From != int64(width) {
		return StatusRow{}, malformed(KindVerdicts)
	}
	if err := s.incarnation.belongs(KindVerdicts, id, partition, keyVersion); err != nil {
		return StatusRow{}, err
	}
	row.Verdicts, err = s.aead().Open(make([]byte, 0, width), n, sealed, s.associated(value[:rowHeader]))
	if err != nil {
		return StatusRow{}, fmt.Errorf("%w: %v fails authentication", ErrCorrupt, KindVerdicts)
	}
	return row, nil
}
