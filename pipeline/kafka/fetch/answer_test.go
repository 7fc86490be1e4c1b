package fetch

import (
	"bytes"
	"testing"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/records/recordstest"
)

// FuzzFetchAnswers fuzzes the parsers of raw answers. They must never panic, and must allocate no more than the input's
// size.
func FuzzFetchAnswers(f *testing.F) {
	batch := recordstest.Appended(f, recordstest.Build(records.NoCompression, []records.Record{{Value: []byte("v")}}), 0,
		records.Stamp{})
	f.Add(fetchAnswer(batch, abortedTxn{1, 2}))
	f.Add([]byte{0, 0, 0, 0, 2, 0, 0, 0, 1, 2, 'h', 0, 0, 0, 1, 0, 0, 2, 'c', 0, 0, 0, 1, 1, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := readFetch(bytes.NewReader(b), len(b), plenty, 4096)
		if err == nil && a.records != nil && cap(a.records.B) > 2<<20 {
			t.Fatalf("%d bytes held for %d", cap(a.records.B), len(b))
		}
	})
}
