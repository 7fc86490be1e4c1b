package wire

import "testing"

// FuzzTags fuzzes the parsers that skip tagged fields. They must never panic, and must allocate no more than the
// input's size.
func FuzzTags(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 0, 0, 0, 1, 2, 'h', 0, 0, 0, 1, 0, 0, 2, 'c', 0, 0, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		(&Reader{B: b}).Tags()
	})
}
