package state

import (
	"crypto/rand"
	"fmt"
	"io"
)

const redacted = "[redacted]"

// Secret is 256 bits that must not be shown: it prints and marshals as "[redacted]". fmt calls these methods for values
// passed to it and for exported fields, but reads unexported fields of other types directly. So a type with a Secret in
// an unexported field must define these methods too.
type Secret [32]byte

// NewSecret draws a secret from crypto/rand.
func NewSecret() (s Secret) {
	_, _ = rand.Read(s[:]) // never fails: without a random source the runtime ends the process
	return s
}

// String hides the content.
func (Secret) String() string { return redacted }

// GoString hides the content.
func (Secret) GoString() string { return redacted }

// Format hides the content, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, redacted) }

// MarshalJSON hides the content. There is no UnmarshalJSON, because a Secret is only ever stored wrapped.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + redacted + `"`), nil }
