package state

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"oriel/state/frame"
)

func TestSealedStateOpens(t *testing.T) {
	for _, length := range []int{0, 1, 40, 4096} {
		s, machine := testSealer(t), fill(length, 0)
		prefix := []byte("before")
		out := s.Seal(bytes.Clone(prefix), testPosition(), machine)
		if !bytes.HasPrefix(out, prefix) || len(out) != len(prefix)+s.Width() {
			t.Fatalf("length %d: %d bytes, width %d", length, len(out), s.Width())
		}
		p, got, err := testSealer(t).Open(out[len(prefix):])
		if err != nil || p != testPosition() || !bytes.Equal(got, machine) {
			t.Errorf("length %d: %+v, %x, %v", length, p, got, err)
		}
		if length > 8 && bytes.Contains(out, machine[:8]) {
			t.Errorf("length %d: machine state in clear", length)
		}
		if again := s.Seal(nil, testPosition(), machine); bytes.Equal(again, out[len(prefix):]) {
			t.Errorf("length %d: two seals have one nonce", length)
		}
	}
}

// TestSealedStateRefusesEveryFlippedBit checks that every flipped bit is refused: after an accident, which the checksum
// detects, and after an adversary, who corrects the checksum.
func TestSealedStateRefusesEveryFlippedBit(t *testing.T) {
	for _, p := range []Position{testPosition(), owingPosition(), wholePosition()} {
		refuseEveryFlippedBit(t, testSealer(t).Seal(nil, p, fill(40, 0)), func(b []byte) (bool, error) {
			_, machine, err := testSealer(t).Open(b)
			return machine != nil, err
		})
	}
}

// refuseEveryFlippedBit tries every flipped bit and every truncation of a sealed value. open reports whether it
// returned anything private.
func refuseEveryFlippedBit(t *testing.T, value []byte, open func([]byte) (bool, error)) {
	t.Helper()
	for i := range value {
		for bit := range 8 {
			b := bytes.Clone(value)
			b[i] ^= 1 << bit
			if _, err := open(b); !errors.Is(err, frame.ErrCorrupt) && (i >= 2 || !errors.Is(err, frame.ErrFormat)) {
				t.Errorf("bit %d of byte %d flipped: %v", bit, i, err)
			}
			if i >= 2 && i < len(b)-frame.ChecksumSize {
				b = frame.AppendChecksum(b[:len(b)-frame.ChecksumSize], 0)
			}
			if private, err := open(b); err == nil || private {
				t.Errorf("bit %d of byte %d forged: opens", bit, i)
			}
		}
		if _, err := open(value[:i]); !errors.Is(err, frame.ErrCorrupt) {
			t.Errorf("cut at %d: %v", i, err)
		}
	}
	if _, err := open(append(bytes.Clone(value), 0)); !errors.Is(err, frame.ErrCorrupt) {
		t.Errorf("longer: %v", err)
	}
}

// foreigner is an incarnation that must not open another one's records, and the error text expected then.
type foreigner struct {
	name   string
	change func(*Incarnation)
	want   error
	text   string
}

func foreigners(kind string) []foreigner {
	return []foreigner{
		{"partition", func(i *Incarnation) { i.Partition = 4 }, frame.ErrForeign, kind + " of partition 3, want partition 4"},
		{"incarnation", func(i *Incarnation) { i.ID[0]++ }, frame.ErrForeign, kind + " of incarnation 0a0b"},
		{"key version", func(i *Incarnation) { i.KeyVersion = 8 }, frame.ErrForeign, kind + " under key version 7, want 8"},
		{"stream", func(i *Incarnation) { i.Stream = "3/JFK" }, frame.ErrCorrupt, kind + " fails authentication"},
		{"seal key", func(i *Incarnation) { i.SealKey[0]++ }, frame.ErrCorrupt, kind + " fails authentication"},
	}
}

func TestSealedStateRefusesOthers(t *testing.T) {
	value := testSealer(t).Seal(nil, testPosition(), fill(40, 0))
	for _, c := range foreigners("sealed state") {
		i := testIncarnation()
		c.change(&i)
		s, err := i.Sealer()
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := s.Open(value); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("other %s: %v", c.name, err)
		}
		if s.Width() != 0 {
			t.Errorf("other %s: a refused state fixes the width", c.name)
		}
	}
	unknown := append([]byte{2}, value[1:]...)
	if _, _, err := testSealer(t).Open(unknown); !errors.Is(err, frame.ErrFormat) ||
		!strings.Contains(err.Error(), "format 2") {
		t.Errorf("format 2: %v", err)
	}
	if _, _, err := testSealer(t).Open(testIncarnation().Seal(testMaster())); !errors.Is(err, frame.ErrFormat) {
		t.Errorf("incarnation as state: %v", err)
	}
}

// TestWidthNeverChanges checks that the length of a record changes by whole rows of partitions alone, because it would
// otherwise reveal the content.
func TestWidthNeverChanges(t *testing.T) {
	s := testSealer(t)
	short := s.Seal(nil, testPosition(), fill(40, 0))
	if s.Width() != len(short) {
		t.Errorf("width %d, want %d", s.Width(), len(short))
	}
	long := testSealer(t).Seal(nil, testPosition(), fill(41, 0))
	if _, _, err := s.Open(long); !errors.Is(err, frame.ErrForeign) {
		t.Errorf("longer state: %v", err)
	}
	opened := testSealer(t)
	if _, _, err := opened.Open(short); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*Sealer{"after Seal": s, "after Open": opened} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "BUG: state: ") {
					t.Errorf("%s: panic %q", name, r)
				}
			}()
			if more := s.Seal(nil, testPosition(), fill(40+2*PartitionLen, 0)); len(more) != len(short)+2*PartitionLen {
				t.Errorf("%s: two partitions more: %d bytes after %d", name, len(more), len(short))
			}
			s.Seal(nil, testPosition(), fill(41, 0))
			t.Errorf("%s: another length is sealed", name)
		}()
	}
}
