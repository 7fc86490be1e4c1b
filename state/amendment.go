package state

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"io"
)

// Amendment holds the params appended to a stream's frozen params since its opening: public settings that apply from a
// later step on. It is authenticated, because a repeated step must give the same decision.
//
//	format u8 ‖ kind u8 ‖ appended var ‖ HMAC-SHA-256(key, stream var ‖ all before it) 32 ‖ CRC-32C u32
type Amendment []byte

// Amendment returns the key that authenticates amendments: HMAC-SHA-256(k, "oriel amendment").
func (k NameKey) Amendment() [32]byte {
	h := hmac.New(sha256.New, k[:])
	_, _ = io.WriteString(h, "oriel amendment")
	return [32]byte(h.Sum(nil))
}

// Seal returns the record of a stream's amendment.
func (a Amendment) Seal(key [32]byte, stream string) []byte {
	b := appendVariable(appendHeader(nil, KindAmendment), []byte(a))
	return appendChecksum(append(b, authenticate(key, stream, b)...), 0)
}

// OpenAmendment opens a record that Seal made with the same key for the same stream. Errors: ErrFormat, ErrCorrupt,
// ErrForeign.
func OpenAmendment(b []byte, key [32]byte, stream string) (Amendment, error) {
	r, err := unframe(b, KindAmendment)
	if err != nil {
		return nil, err
	}
	if len(r.record) < 2+4+sha256.Size {
		return nil, malformed(KindAmendment)
	}
	body, mac := r.record[:len(r.record)-sha256.Size], r.record[len(r.record)-sha256.Size:]
	if !hmac.Equal(authenticate(key, stream, body), mac) {
		return nil, fmt.Errorf("%w: amendment of another stream or deployment, or a changed one", ErrForeign)
	}
	r.record = body
	a := Amendment(r.variable())
	if r.bad || r.at != len(r.record) {
		return nil, malformed(KindAmendment)
	}
	return a, nil
}
