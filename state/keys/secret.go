package keys

import (
	"crypto/rand"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Redacted is the text that a secret prints.
const Redacted = "[redacted]"

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
func (Secret) String() string { return Redacted }

// GoString hides the content.
func (Secret) GoString() string { return Redacted }

// Format hides the content, whatever the verb.
func (Secret) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, Redacted) }

// MarshalJSON hides the content. There is no UnmarshalJSON, because a Secret is only ever stored wrapped.
func (Secret) MarshalJSON() ([]byte, error) { return []byte(`"` + Redacted + `"`), nil }

// ReadSecretFile reads at most most bytes of a file that holds a secret. It refuses a file that others may read or
// write, or that its group may write, because a writer of the file can choose the secret. Errors name the path and the
// rule, never the content.
func ReadSecretFile(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path) // before opening, because opening a pipe waits for a writer
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("file %s: not a regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // closing after reading loses nothing
	if info, err = f.Stat(); err != nil {
		return nil, err
	}
	if err := checkMode(info.Mode().Perm()); err != nil {
		return nil, fmt.Errorf("file %s: %w", path, err)
	}
	return io.ReadAll(io.LimitReader(f, most))
}

func checkMode(mode fs.FileMode) error {
	switch {
	case mode&0o006 != 0:
		return fmt.Errorf("mode %04o lets others read or write it; use chmod 0400", mode)
	case mode&0o020 != 0:
		return fmt.Errorf("mode %04o lets its group write it; use chmod 0400 or 0440", mode)
	}
	return nil
}
