package actions

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
	"slices"
)

// A state is, little-endian:
//
//	step u64, answers added in the open step u32, then for each round, by its number modulo the number of rounds:
//	used actions, 64 a word, answers u32, then for each answer its place in the round u32 and its value f64
//
// A missing value is the NaN with bits 0x7ff8000000000001. Unused places are zero.
const headLen = 8 + 4

// errState is the only error that Restore returns.
var errState = errors.New("plays: state: malformed")

func (c Config) roundLen() int { return 8*((c.Actions+63)/64) + 4 + 12*c.Records }

// StateLen returns the length of every state in bytes.
func (c Config) StateLen() int { return headLen + c.Rounds()*c.roundLen() }

func (t *Table) StateLen() int { return t.config.StateLen() }

// AppendState appends the state, StateLen bytes. It is private.
func (t *Table) AppendState(dst []byte) []byte {
	dst = binary.LittleEndian.AppendUint64(dst, t.step)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(t.added))
	for i := range t.rounds {
		r := &t.rounds[i]
		for _, word := range r.used {
			dst = binary.LittleEndian.AppendUint64(dst, word)
		}
		dst = binary.LittleEndian.AppendUint32(dst, uint32(r.count))
		for k, value := range r.values {
			dst = binary.LittleEndian.AppendUint32(dst, r.actions[k])
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(value))
		}
	}
	return dst
}

// Public returns a copy of a state without the values of answers, which neighbours share.
func (c Config) Public(state []byte) []byte {
	public := slices.Clone(state)
	c.hide(public)
	return public
}

// hide clears the values of answers in a state.
func (c Config) hide(state []byte) {
	for i := range c.Rounds() {
		answers := state[headLen+(i+1)*c.roundLen()-12*c.Records:]
		for k := range c.Records {
			clear(answers[12*k+4 : 12*k+12])
		}
	}
}

// AppendShared appends the state without the values of answers.
func (t *Table) AppendShared(dst []byte) []byte {
	start := len(dst)
	dst = t.AppendState(dst)
	t.config.hide(dst[start:])
	return dst
}

// Restore sets a table of the same configuration to a state that AppendState saved. After an error it is unchanged.
func (t *Table) Restore(state []byte) error {
	c := t.config
	if len(state) != c.StateLen() {
		return errState
	}
	step, added := binary.LittleEndian.Uint64(state), binary.LittleEndian.Uint32(state[8:])
	if step < 1 || step > math.MaxUint64/uint64(c.Actions)-1 || added > c.settling(step, state) {
		return errState
	}
	for i := range t.rounds {
		if !c.roundHolds(state[headLen+i*c.roundLen():][:c.roundLen()], c.known(step, i)) {
			return errState
		}
	}
	t.step, t.added, t.current = step, int(added), -1
	for i := range t.rounds {
		t.rounds[i].read(state[headLen+i*c.roundLen():][:c.roundLen()])
	}
	return nil
}

// settling returns the number of answers in a state that records of the open step add. With Delay 0 each is added when
// it arrives, and none waits.
func (c Config) settling(step uint64, state []byte) uint32 {
	if c.Delay == 0 || step <= c.Delay {
		return 0
	}
	slot := int((step - c.Delay) % uint64(c.Rounds()))
	return binary.LittleEndian.Uint32(state[headLen+slot*c.roundLen()+8*((c.Actions+63)/64):])
}

// Check returns an error if a restored table and a restored stream are at different steps.
func Check(t *Table, stream interface{ Step() uint64 }) error {
	if stream.Step()+1 != t.Step() {
		return errors.New("plays and releases are of different steps")
	}
	return nil
}

// known reports whether a slot of a table holds a round at a step. In the first steps there are fewer rounds than
// slots.
func (c Config) known(step uint64, slot int) bool {
	back := (step%uint64(c.Rounds()) + uint64(c.Rounds()) - uint64(slot)) % uint64(c.Rounds())
	return back < step
}

// roundHolds checks a round: its answers belong to used actions, no action has two answers, and unused places are zero.
func (c Config) roundHolds(b []byte, known bool) bool {
	words := (c.Actions + 63) / 64
	used := make([]uint64, words)
	total := 0
	for i := range used {
		used[i] = binary.LittleEndian.Uint64(b[8*i:])
		total += bits.OnesCount64(used[i])
	}
	count := binary.LittleEndian.Uint32(b[8*words:])
	if count > uint32(c.Records) || total != int(count) || count > 0 && !known {
		return false
	}
	if last := c.Actions % 64; last > 0 && used[words-1]>>last != 0 {
		return false
	}
	answers := b[8*words+4:]
	for k := range c.Records {
		place, value := binary.LittleEndian.Uint32(answers[12*k:]), binary.LittleEndian.Uint64(answers[12*k+4:])
		if k >= int(count) {
			if place != 0 || value != 0 {
				return false
			}
			continue
		}
		if place >= uint32(c.Actions) || used[place/64]>>(place%64)&1 == 0 {
			return false
		}
		used[place/64] &^= 1 << (place % 64)
		if x := math.Float64frombits(value); math.IsNaN(x) && value != math.Float64bits(math.NaN()) {
			return false
		}
	}
	return true
}

func (r *round) read(b []byte) {
	for i := range r.used {
		r.used[i] = binary.LittleEndian.Uint64(b[8*i:])
	}
	b = b[8*len(r.used):]
	r.count = int(binary.LittleEndian.Uint32(b))
	for k := range r.values {
		r.actions[k] = binary.LittleEndian.Uint32(b[4+12*k:])
		r.values[k] = math.Float64frombits(binary.LittleEndian.Uint64(b[8+12*k:]))
	}
}
