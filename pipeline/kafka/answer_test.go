package kafka

import (
	"bytes"
	"testing"
)

// FuzzFetchAnswers feeds the parsers of raw answers. They never panic and allocate no more than they are given.
func FuzzFetchAnswers(f *testing.F) {
	batch := appended(f, build(NoCompression, []Record{{Value: []byte("v")}}), 0, Stamp{})
	f.Add(fetchAnswer(batch, abortedTxn{1, 2}))
	f.Add([]byte{0, 0, 0, 0, 2, 0, 0, 0, 1, 2, 'h', 0, 0, 0, 1, 0, 0, 2, 'c', 0, 0, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := readFetch(bytes.NewReader(b), len(b), plenty, 4096)
		if err == nil && a.records != nil && cap(a.records.b) > 2<<20 {
			t.Fatalf("%d bytes held for %d", cap(a.records.b), len(b))
		}
	})
}
