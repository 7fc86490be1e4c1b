package state

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"oriel/state/frame"
)

func TestPartsJoin(t *testing.T) {
	for _, length := range []int{0, 1, MaxValue, MaxValue + 1, 2 * partData, 2*partData + 1, 3*partData - 1} {
		value := fill(length, 7)
		parts := Parts(value)
		if length <= MaxValue && (len(parts) != 1 || !bytes.Equal(parts[0], value)) {
			t.Errorf("length %d: a value that fits is changed", length)
		}
		for i, p := range parts {
			if len(p) > MaxValue {
				t.Errorf("length %d: part %d has %d bytes", length, i, len(p))
			}
		}
		if n, err := PartCount(parts[0]); err != nil || n != len(parts) {
			t.Errorf("length %d: count %d, %v", length, n, err)
		}
		if got, err := Join(parts); err != nil || !bytes.Equal(got, value) {
			t.Errorf("length %d: %d bytes, %v", length, len(got), err)
		}
	}
}

// TestPartsOfTwoStatesNeverJoin mixes parts of two states, which can occur because the changelog is compacted key by
// key.
func TestPartsOfTwoStatesNeverJoin(t *testing.T) {
	s := testSealer(t)
	machine := make([]byte, 3*partData)
	a, b := Parts(s.Seal(nil, testPosition(), machine)), Parts(s.Seal(nil, testPosition(), machine))
	if len(a) != 4 {
		t.Fatalf("%d parts", len(a))
	}
	joined, err := Join(a)
	if err != nil {
		t.Fatal(err)
	}
	if _, got, err := testSealer(t).Open(joined); err != nil || !bytes.Equal(got, machine) {
		t.Fatalf("parts of one state: %v", err)
	}
	flipped := bytes.Clone(a[1])
	flipped[partHeader] ^= 1
	forged := frame.AppendChecksum(bytes.Clone(flipped[:len(flipped)-frame.ChecksumSize]), 0)
	for name, parts := range map[string][][]byte{
		"one of another": {a[0], b[1], a[2], a[3]},
		"swapped":        {a[0], a[2], a[1], a[3]},
		"twice":          {a[0], a[1], a[1], a[3]},
		"one missing":    {a[0], a[1], a[2]},
		"first missing":  {a[1], a[2], a[3]},
		"one too many":   {a[0], a[1], a[2], a[3], a[3]},
		"flipped":        {a[0], flipped, a[2], a[3]},
		"forged":         {a[0], forged, a[2], a[3]},
		"cut":            {a[0], a[1][:len(a[1])-1], a[2], a[3]},
		"none":           nil,
		"a whole one":    {joined, a[1]},
	} {
		if got, err := Join(parts); !errors.Is(err, frame.ErrCorrupt) || got != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, _, err := testSealer(t).Open(a[0]); !errors.Is(err, frame.ErrFormat) {
		t.Errorf("a part as a state: %v", err)
	}
}

func TestPartKeysDiffer(t *testing.T) {
	key := slices.Grow(fill(32, 0), 8) // spare capacity, which PartKey must not write to
	a, b := PartKey(key, 1), PartKey(key, 2)
	if !bytes.Equal(PartKey(key, 0), key) || a[32] != 1 || b[32] != 2 || len(a) != 33 {
		t.Errorf("keys %x, %x", a, b)
	}
}
