package operators_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"oriel/operators"
)

// parts is a machine of two parts, each a byte below 10.
type parts struct {
	operators.Machine
	first, second byte
}

func (p *parts) StateLen() int { return 3 }

func (p *parts) AppendState(dst []byte) []byte { return append(dst, 1, p.first, p.second) }

func (p *parts) restore(state []byte) error {
	for i, part := range []*byte{&p.first, &p.second} {
		if state[1+i] > 9 {
			return errors.New("refused")
		}
		*part = state[1+i]
	}
	return nil
}

// What is refused leaves a machine as it was, whichever part it is; another length or version is named.
func TestRestoreParts(t *testing.T) {
	p := &parts{first: 3, second: 4}
	for _, state := range [][]byte{{1, 10, 5}, {1, 5, 10}} {
		if err := operators.RestoreParts("parts", p, state, p.restore); err == nil || p.first != 3 || p.second != 4 {
			t.Errorf("%v: %v, left at %d, %d", state, err, p.first, p.second)
		}
	}
	if err := operators.RestoreParts("parts", p, []byte{1, 7, 8}, p.restore); err != nil || p.first != 7 || p.second != 8 {
		t.Errorf("%v, at %d, %d", err, p.first, p.second)
	}
	for want, state := range map[string][]byte{"": {1, 0, 0}, "version 2": {2, 0, 0}, "2 bytes": {1, 0}, "0 bytes": nil} {
		err := operators.CheckState("parts", p, state, 1)
		if (want == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), "parts: state: "+want) {
			t.Errorf("%v: %v, want %q", state, err, want)
		}
	}
	p.first = 10
	defer func() {
		if said, _ := recover().(string); !strings.HasPrefix(said, "BUG: parts: own state refused") {
			t.Errorf("a state of its own that it refuses: %q", said)
		}
	}()
	_ = operators.RestoreParts("parts", p, bytes.Repeat([]byte{10}, 3), p.restore)
}

func TestDueEvery(t *testing.T) {
	for step, want := range map[uint64]int{0: 0, 1: 0, 3: 1, 4: 0, 6: 1} {
		if first, count := operators.DueEvery(step, 3); count != want || count > 0 && first != step {
			t.Errorf("step %d: %d from %d on, want %d", step, count, first, want)
		}
	}
}
