package replay

import (
	"bytes"
	"errors"
	"testing"
)

func FuzzParseCheckpoint(f *testing.F) {
	f.Add([]byte(checkpointMagic))
	f.Add(append([]byte(checkpointMagic), 1, 0, 0, 0, 'k', 2, 0, 0, 0, 'v', 'w'))
	f.Add(append([]byte(checkpointMagic), 255, 255, 255, 255))
	f.Fuzz(func(t *testing.T, b []byte) {
		view, err := parseCheckpoint(b)
		if err != nil {
			if !errors.Is(err, ErrCheckpoint) {
				t.Fatalf("unexpected error %v", err)
			}
			return
		}
		written := view.Records()[1:] // without the first record, which belongs to the local store
		again, err := parseCheckpoint(appendCheckpoint(nil, written))
		if err != nil {
			t.Fatal(err)
		}
		if again.Len() != len(written) {
			t.Fatalf("%d records were written, %d are read", len(written), again.Len())
		}
		for _, r := range written {
			if !bytes.Equal(again.Value(r.Key), r.Value) {
				t.Fatal("parsing what was written gives other records")
			}
		}
	})
}
