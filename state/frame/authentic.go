package frame

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
)

// CloseAuthentic appends the authentication and the checksum of a public record of a stream. The authentication is
// HMAC-SHA-256(key, stream var ‖ record).
func CloseAuthentic(record []byte, key [32]byte, stream string) []byte {
	return AppendChecksum(append(record, authenticate(record, key, stream)...), 0)
}

// OpenAuthentic returns a reader of the fields of a record that CloseAuthentic closed with the same key for the same
// stream.
func OpenAuthentic(b []byte, k Kind, key [32]byte, stream string) (Reader, error) {
	r, err := Open(b, k)
	if err != nil {
		return r, err
	}
	mac := r.CutLast(sha256.Size)
	if r.Bad {
		return r, Malformed(k)
	}
	if !hmac.Equal(authenticate(b[:HeaderSize+r.Left()], key, stream), mac) {
		return r, fmt.Errorf("%w: %v of another stream or deployment, or a changed one", ErrForeign, k)
	}
	return r, nil
}

func authenticate(record []byte, key [32]byte, stream string) []byte {
	h := hmac.New(sha256.New, key[:])
	h.Write(AppendVariable(nil, stream))
	h.Write(record)
	return h.Sum(nil)
}

// Errors of records. A caller distinguishes them with errors.Is, because each needs another remedy: another version
// of Oriel, the changelog, another deployment.
var (
	// ErrFormat means that the record has an unknown format or an unexpected kind: another version wrote it.
	ErrFormat = errors.New("state: unknown format")
	// ErrCorrupt means that the bytes are not the ones that were written.
	ErrCorrupt = errors.New("state: corrupt")
	// ErrForeign means that the bytes are intact and belong to another deployment, partition, incarnation or key
	// version.
	ErrForeign = errors.New("state: foreign")
)
