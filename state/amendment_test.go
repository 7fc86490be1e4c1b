package state

import (
	"bytes"
	"errors"
	"testing"
)

func amendmentKey() [32]byte { return NameKey(fill(32, 7)).Amendment() }

// TestGoldenBytesOfAmendments checks that the bytes of an amendment never change, and that it opens only for its own
// stream and deployment, unchanged.
func TestGoldenBytesOfAmendments(t *testing.T) {
	want := Amendment("experiment_step=401\n")
	sealed := want.Seal(amendmentKey(), "orders")
	golden(t, "amendment-1.hex", sealed)
	if a, err := OpenAmendment(sealed, amendmentKey(), "orders"); err != nil || !bytes.Equal(a, want) {
		t.Errorf("%q, %v", a, err)
	}
	if a, err := OpenAmendment(sealed, amendmentKey(), "order"); a != nil || !errors.Is(err, ErrForeign) {
		t.Errorf("of another stream: %q, %v", a, err)
	}
	if a, err := OpenAmendment(sealed, schemasKey(), "orders"); a != nil || !errors.Is(err, ErrForeign) {
		t.Errorf("of another key: %q, %v", a, err)
	}
	for i := 2; i < len(sealed)-checksumSize; i++ {
		changed := bytes.Clone(sealed[:len(sealed)-checksumSize])
		changed[i] ^= 1
		if a, err := OpenAmendment(appendChecksum(changed, 0), amendmentKey(), "orders"); a != nil || err == nil {
			t.Fatalf("byte %d changed: %q", i, a)
		}
	}
}

// FuzzOpenAmendment is FuzzOpenManifest for amendments with a valid authentication.
func FuzzOpenAmendment(f *testing.F) {
	f.Add([]byte{})
	whole := Amendment("x").Seal(amendmentKey(), "orders")
	f.Add(whole[2 : len(whole)-checksumSize-32])
	f.Fuzz(func(t *testing.T, fields []byte) {
		b := append(appendHeader(nil, KindAmendment), fields...)
		b = appendChecksum(append(b, authenticate(amendmentKey(), "orders", b)...), 0)
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
