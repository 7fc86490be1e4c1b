package state

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
)

func TestVerdictsOpen(t *testing.T) {
	for _, width := range []int{1, 40, MaxVerdicts} {
		verdicts := fill(width, 0)
		out := testSealer(t).SealVerdicts([]byte("before"), 77, verdicts)[len("before"):]
		if len(out) != width+rowOverhead {
			t.Fatalf("width %d: %d bytes, want %d", width, len(out), width+rowOverhead)
		}
		row, err := testSealer(t).OpenVerdicts(out)
		if err != nil || row.From != 77 || row.To != 77+int64(width) || !bytes.Equal(row.Verdicts, verdicts) {
			t.Errorf("width %d: %d to %d, %v", width, row.From, row.To, err)
		}
		if width > 8 && bytes.Contains(out, verdicts[:8]) {
			t.Errorf("width %d: verdicts in clear", width)
		}
	}
	if a, b := testSealer(t).SealVerdicts(nil, 0, fill(9, 0)),
		testSealer(t).SealVerdicts(nil, 0, fill(9, 0)); bytes.Equal(a, b) {
		t.Error("two seals have one nonce")
	}
}

// TestVerdictsRefuseEveryFlippedBit, by accident (the checksum tells) and by an adversary who computes the checksum.
func TestVerdictsRefuseEveryFlippedBit(t *testing.T) {
	refuseEveryFlippedBit(t, testSealer(t).SealVerdicts(nil, 77, fill(40, 0)), func(b []byte) (bool, error) {
		row, err := testSealer(t).OpenVerdicts(b)
		return row.Verdicts != nil, err
	})
}

func TestVerdictsRefuseOthers(t *testing.T) {
	value := testSealer(t).SealVerdicts(nil, 77, fill(40, 0))
	for _, c := range foreigners("row of verdicts") {
		i := testIncarnation()
		c.change(&i)
		s, err := i.Sealer()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.OpenVerdicts(value); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("other %s: %v", c.name, err)
		}
	}
	if _, err := testSealer(t).OpenVerdicts(testSealer(t).Seal(nil, testPosition(), fill(40, 0))); !errors.Is(err,
		ErrFormat) {
		t.Errorf("a state as a row: %v", err)
	}
	if _, _, err := testSealer(t).Open(value); !errors.Is(err, ErrFormat) {
		t.Errorf("a row as a state: %v", err)
	}
}

// A row has as many statuses as offsets, whoever has sealed it.
func TestARowIsAsLongAsItsOffsets(t *testing.T) {
	for to, want := range map[uint64]bool{80: false, 81: true, 82: false, 40: false} {
		s := testSealer(t)
		row := s.appendOwner(nil, KindVerdicts)
		row = binary.LittleEndian.AppendUint64(row, 77)
		row = binary.LittleEndian.AppendUint64(row, to)
		if _, err := s.OpenVerdicts(s.close(row, 0, newNonce(), fill(4, 1))); (err == nil) != want {
			t.Errorf("4 statuses of the offsets 77 to %d: %v", to, err)
		}
	}
}

// TestNoRowIsEmptyOrTooLong: the width of a row is public, and bounded for whoever opens it.
func TestNoRowIsEmptyOrTooLong(t *testing.T) {
	for _, width := range []int{0, MaxVerdicts + 1} {
		func() {
			defer func() {
				if r, _ := recover().(string); !strings.HasPrefix(r, "BUG: state: ") {
					t.Errorf("width %d: panic %q", width, r)
				}
			}()
			testSealer(t).SealVerdicts(nil, 0, make([]byte, width))
			t.Errorf("width %d: sealed", width)
		}()
	}
}
