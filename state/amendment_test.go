package state

import (
	"bytes"
	"errors"
	"testing"

	"oriel/state/frame"
	"oriel/state/keys"
)

func amendmentKey() [32]byte { return keys.NameKey(fill(32, 7)).Amendment() }

// TestGoldenBytesOfAmendments checks that the bytes of an amendment never change, and that it opens only for its own
// stream and deployment, unchanged.
func TestGoldenBytesOfAmendments(t *testing.T) {
	want := Amendment("experiment_step=401\n")
	sealed := want.Seal(amendmentKey(), "orders")
	golden(t, "amendment.hex", sealed)
	if a, err := OpenAmendment(sealed, amendmentKey(), "orders"); err != nil || !bytes.Equal(a, want) {
		t.Errorf("%q, %v", a, err)
	}
	if a, err := OpenAmendment(sealed, amendmentKey(), "order"); a != nil || !errors.Is(err, frame.ErrForeign) {
		t.Errorf("of another stream: %q, %v", a, err)
	}
	if a, err := OpenAmendment(sealed, schemasKey(), "orders"); a != nil || !errors.Is(err, frame.ErrForeign) {
		t.Errorf("of another key: %q, %v", a, err)
	}
	for i := 2; i < len(sealed)-frame.ChecksumSize; i++ {
		changed := bytes.Clone(sealed[:len(sealed)-frame.ChecksumSize])
		changed[i] ^= 1
		if a, err := OpenAmendment(frame.AppendChecksum(changed, 0), amendmentKey(), "orders"); a != nil || err == nil {
			t.Fatalf("byte %d changed: %q", i, a)
		}
	}
}

// FuzzOpenAmendment is FuzzOpenManifest for amendments with a valid authentication.
func FuzzOpenAmendment(f *testing.F) {
	f.Add([]byte{})
	whole := Amendment("x").Seal(amendmentKey(), "orders")
	f.Add(whole[2 : len(whole)-frame.ChecksumSize-32])
	f.Fuzz(func(t *testing.T, fields []byte) {
		b := append(frame.AppendHeader(nil, frame.KindAmendment), fields...)
		b = frame.CloseAuthentic(b, amendmentKey(), "orders")
		a, err := OpenAmendment(b, amendmentKey(), "orders")
		if err != nil {
			refuse(t, err, a)
			return
		}
		if again := a.Seal(amendmentKey(), "orders"); !bytes.Equal(again, b) {
			t.Fatalf("sealed again: %x, was %x", again, b)
		}
	})
}
