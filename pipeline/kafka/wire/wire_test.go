package wire

import "testing"

// FuzzTags feeds what steps over tagged fields. They never panic and allocate no more than they are given.
func FuzzTags(f *testing.F) {
	f.Add([]byte{0, 0, 0, 0, 2, 0, 0, 0, 1, 2, 'h', 0, 0, 0, 1, 0, 0, 2, 'c', 0, 0, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		(&Reader{B: b}).Tags()
	})
}
