package keys

import (
	"bytes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/chacha20poly1305"

	"oriel/state/frame"
)

// ErrWrongKey means that a record is intact and was wrapped by another master key.
var ErrWrongKey = errors.New("state: wrong master key")

// MasterKey wraps the other keys. It encrypts no state itself, so that it can be rotated by wrapping the keys again.
// Like a Secret, it prints as "[redacted]". If it is in an unexported field of a printed value, fmt prints an address.
// The key is behind a function, because fmt follows pointers for some verbs but never enters a function.
type MasterKey struct {
	material func() (wrapping cipher.AEAD, check Secret)
}

// NewMasterKey returns the master key of the given bits. The service reads its key with LoadMasterKey.
func NewMasterKey(b [32]byte) *MasterKey {
	wrapping, err := chacha20poly1305.NewX(Expand(b[:], "oriel wrap", 32))
	if err != nil {
		panic("BUG: state: wrapping key of a wrong length")
	}
	check := Secret(Expand(b[:], "oriel check", 32)) // tells a wrong key from a damaged record
	return &MasterKey{func() (cipher.AEAD, Secret) { return wrapping, check }}
}

// masterDigits is the number of hexadecimal digits of a master key.
const masterDigits = 64

// MaxMasterKeyText is the largest number of bytes to read from a master key file: the key, an optional newline, and
// one more byte to detect longer files.
const MaxMasterKeyText = masterDigits + 2

// LoadMasterKey reads a master key from a file by ReadSecretFile and ParseMasterKey. Errors name the path and the rule,
// never the content.
func LoadMasterKey(path string) (*MasterKey, error) {
	text, err := ReadSecretFile(path, MaxMasterKeyText)
	if err != nil {
		return nil, fmt.Errorf("state: master key: %w", err)
	}
	key, err := ParseMasterKey(text)
	if err != nil {
		return nil, fmt.Errorf("state: master key file %s: %w", path, err)
	}
	return key, nil
}

// ParseMasterKey reads a master key of 64 hexadecimal digits and an optional newline. Errors name the rule, never the
// content.
func ParseMasterKey(text []byte) (*MasterKey, error) {
	text = bytes.TrimSuffix(text, []byte("\n"))
	var key [masterDigits / 2]byte
	if len(text) != masterDigits {
		return nil, errors.New("must hold 64 hexadecimal digits and at most one newline")
	}
	if _, err := hex.Decode(key[:], text); err != nil { // the error is dropped because its text quotes the content
		return nil, errors.New("must hold hexadecimal digits only")
	}
	return NewMasterKey(key), nil
}

// String hides the content.
func (MasterKey) String() string { return Redacted }

// GoString hides the content.
func (MasterKey) GoString() string { return Redacted }

// Format hides the content, whatever the verb.
func (MasterKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// MarshalJSON hides the content.
func (MasterKey) MarshalJSON() ([]byte, error) { return []byte(`"` + Redacted + `"`), nil }

// Nonce is the random nonce of a sealed record.
type Nonce [chacha20poly1305.NonceSizeX]byte

// NewNonce draws 192 bits, enough that random nonces never repeat, even across crashes and restores.
func NewNonce() (n Nonce) {
	_, _ = rand.Read(n[:])
	return n
}

const (
	checkSize = 16
	wrapSize  = len(Nonce{}) + checkSize + len(Secret{}) + chacha20poly1305.Overhead
)

// Wrap appends nonce, key check and the wrapped secret to record. All earlier bytes are associated data.
func (m *MasterKey) Wrap(record []byte, n Nonce, secret Secret) []byte {
	clear := record[:len(record):len(record)]
	wrapping, check := m.material()
	record = append(record, n[:]...)
	record = append(record, keyCheck(check, n)...)
	return wrapping.Seal(record, n[:], secret[:], clear)
}

// Unwrap reverses Wrap on the rest of r. Errors: frame.ErrCorrupt, ErrWrongKey.
func (m *MasterKey) Unwrap(r *frame.Reader, k frame.Kind) (Secret, error) {
	clear := r.Read()
	tail := r.Rest()
	if r.Bad || len(tail) != wrapSize {
		return Secret{}, frame.Malformed(k)
	}
	n := Nonce(tail)
	wrapping, check := m.material()
	if !hmac.Equal(keyCheck(check, n), tail[len(n):len(n)+checkSize]) {
		return Secret{}, fmt.Errorf("%w: the %v was sealed with another one; use the key file it was made with", ErrWrongKey,
			k)
	}
	b, err := wrapping.Open(nil, n[:], tail[len(n)+checkSize:], clear)
	if err != nil {
		return Secret{}, fmt.Errorf("%w: %v fails authentication", frame.ErrCorrupt, k)
	}
	return Secret(b), nil
}

// keyCheck depends on the nonce, so that records do not show which of them have the same master key.
func keyCheck(check Secret, n Nonce) []byte {
	h := hmac.New(sha256.New, check[:])
	h.Write(n[:])
	return h.Sum(nil)[:checkSize]
}

// Expand is HKDF-SHA-256 without salt: the input has full entropy. It takes at most 255·32 bytes.
func Expand(secret []byte, info string, n int) []byte {
	b, err := hkdf.Key(sha256.New, secret, nil, info, n)
	if err != nil {
		panic("BUG: state: HKDF refuses its own lengths")
	}
	return b
}
