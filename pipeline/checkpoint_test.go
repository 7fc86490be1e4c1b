package pipeline

import (
	"bytes"
	"errors"
	"maps"
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
		again, err := parseCheckpoint(appendCheckpoint(nil, view.Records()))
		if err != nil {
			t.Fatal(err)
		}
		delete(again.values, string(localPosition))
		delete(view.values, string(localPosition))
		if !maps.EqualFunc(view.values, again.values, bytes.Equal) {
			t.Fatal("parsing what was written gives other records")
		}
	})
}

func TestLocalPositionBelongsToOneChangelog(t *testing.T) {
	a, b := [16]byte{1}, [16]byte{2}
	if got := parseLocalPosition(appendLocalPosition(a, 42), a); got != 42 {
		t.Errorf("position %d, want 42", got)
	}
	for _, record := range [][]byte{appendLocalPosition(b, 42), nil, make([]byte, 23)} {
		if got := parseLocalPosition(record, a); got != -1 {
			t.Errorf("position %d for a store of another changelog", got)
		}
	}
}
