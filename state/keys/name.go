package keys

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"io"

	"oriel/state/frame"
)

// NameKey is the key under which stream names are hashed. It prints as "[redacted]", see Secret, because with it names
// in a copied topic or store could be tested by guessing.
type NameKey [32]byte

// NewNameKey draws a name key from crypto/rand. A deployment has one name key for life.
func NewNameKey() NameKey { return NameKey(NewSecret()) }

// Key returns the 32-byte key, in topics and stores, of a stream's record of this kind: HMAC-SHA-256(k, "oriel name" ‖
// kind u8 ‖ stream).
func (k NameKey) Key(kind frame.Kind, stream string) []byte {
	key := k.derive("oriel name" + string([]byte{byte(kind)}) + stream)
	return key[:]
}

// Users returns the secret under which user ids are hashed, one for all streams: HMAC-SHA-256(k, "oriel users").
func (k NameKey) Users() [32]byte { return k.derive("oriel users") }

// Order returns the key that authenticates the records of the order log: HMAC-SHA-256(k, "oriel order").
func (k NameKey) Order() [32]byte { return k.derive("oriel order") }

// Schemas returns the key that authenticates frozen schemas: HMAC-SHA-256(k, "oriel schemas").
func (k NameKey) Schemas() [32]byte { return k.derive("oriel schemas") }

// Amendment returns the key that authenticates amendments: HMAC-SHA-256(k, "oriel amendment").
func (k NameKey) Amendment() [32]byte { return k.derive("oriel amendment") }

func (k NameKey) derive(label string) [32]byte {
	h := hmac.New(sha256.New, k[:])
	_, _ = io.WriteString(h, label)
	return [32]byte(h.Sum(nil))
}

// String hides the content.
func (NameKey) String() string { return Redacted }

// GoString hides the content.
func (NameKey) GoString() string { return Redacted }

// Format hides the content, whatever the verb.
func (NameKey) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// MarshalJSON hides the content.
func (NameKey) MarshalJSON() ([]byte, error) { return []byte(`"` + Redacted + `"`), nil }
