package operators_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/operators"
)

// digit is a field that stores one byte below 10.
type digit byte

func (*digit) StateLen() int { return 1 }

func (d *digit) AppendState(dst []byte) []byte { return append(dst, byte(*d)) }

func (d *digit) Restore(state []byte) error {
	if *d = digit(state[0]); *d > 9 {
		return errors.New("refused")
	}
	return nil
}

// TestRestoreChangesAllOrNothing checks that a refused state leaves the machine unchanged, whichever of its components
// refuses it. The error must name a wrong length or version.
func TestRestoreChangesAllOrNothing(t *testing.T) {
	first, second, count, odd := digit(3), digit(4), uint64(7), false
	vector := []float64{1, -2}
	stream := mechtest.Open(t, mechtest.Config(2), [32]byte{1})
	b := operators.Base{
		Operator: "digits", Stream: stream, Every: 3, Version: 1,
		Fields: []operators.Field{&first, operators.Counter(&count), operators.Floats(vector, func() error {
			if vector[0] > vector[1]+100 {
				return errors.New("refused")
			}
			return nil
		}), &second},
		Check: func() error {
			if odd = first%2 == 1 && second%2 == 1; odd {
				return errors.New("both odd")
			}
			return nil
		},
	}
	own := b.AppendState(nil)
	if len(own) != b.StateLen() {
		t.Fatalf("a state of %d bytes, said to have %d", len(own), b.StateLen())
	}
	at := func(i int, value byte) []byte {
		state := bytes.Clone(own)
		state[i] = value
		return state
	}
	const vectorAt, secondAt = 1 + 1 + 8, 1 + 1 + 8 + 16
	for want, state := range map[string][]byte{
		"version 2": at(0, 2), "0 bytes": nil, "refused": at(1, 10), "both odd": at(secondAt, 5),
		"digits: state: refused":               at(secondAt, 10),
		"mechanisms: state: not of version":    at(secondAt+1, 99),
		"bytes, this configuration has at l":   own[:25],
		"digits: state: version 3, this softw": own[1:],
		"digits: state: version 9, this softw": at(0, 9),
	} {
		if err := b.Restore(state); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		if got := b.AppendState(nil); !bytes.Equal(got, own) {
			t.Errorf("%s: the machine has changed", want)
		}
	}
	state := at(1, 6)
	state[2], state[vectorAt] = 9, 1
	if err := b.Restore(state); err != nil || first != 6 || count != 9 || !bytes.Equal(b.AppendState(nil), state) {
		t.Errorf("%v: %d, %d, %v", err, first, count, vector)
	}
	first = 10
	defer func() {
		if said, _ := recover().(string); !strings.HasPrefix(said, "BUG: digits: own state refused") {
			t.Errorf("a state of its own that it refuses: %q", said)
		}
	}()
	_ = b.Restore(at(1, 11))
}

// TestBaseDecidesEverySoManySteps checks that decisions come once in Every steps, and that no decision is due before
// the first record.
func TestBaseDecidesEverySoManySteps(t *testing.T) {
	b := operators.Base{Every: 3}
	if owed := b.Open(nil); len(owed) != 0 {
		t.Errorf("owes %v", owed)
	}
	var due []uint64
	for step := range uint64(8) {
		if first, count := b.Due(step); count > 0 {
			due = append(due, first)
		}
	}
	if !slices.Equal(due, []uint64{3, 6}) {
		t.Errorf("decisions of steps %v", due)
	}
}

// TestAppendStateAllocatesNothing checks that AppendState does not allocate if dst has enough capacity.
func TestAppendStateAllocatesNothing(t *testing.T) {
	count := uint64(7)
	b := operators.Base{
		Stream: mechtest.Open(t, mechtest.Config(2), [32]byte{1}), Every: 1,
		Fields: []operators.Field{operators.Counter(&count), operators.Floats(make([]float64, 9), nil)},
	}
	room := make([]byte, 0, b.StateLen())
	if n := testing.AllocsPerRun(100, func() { _ = b.AppendState(room) }); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
