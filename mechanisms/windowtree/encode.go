package windowtree

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// A state is, little-endian: the step, u64; the total, n × 16 bytes; h slots of a node each: instance u16, block u64,
// level u8, index u64, seed 32 bytes. Active nodes are in order of the steps they cover, oldest first; unused slots are
// zero. Its length depends only on n and W, so that the length of a sealed state reveals nothing.
const (
	idLen   = 2 + 8 + 1 + 8
	slotLen = idLen + 32
)

// StateLen returns the length of every state of this tree.
func (t *Tree) StateLen() int { return 8 + len(t.total)*lattice.Int128Len + len(t.slots)*slotLen }

// AppendState appends the state. It holds the clean total and the seeds of active nodes, so it is private and must only
// ever be stored sealed.
func (t *Tree) AppendState(dst []byte) []byte {
	end := len(dst) + t.StateLen()
	dst = binary.LittleEndian.AppendUint64(dst, t.steps)
	for _, x := range t.total {
		dst = x.AppendBinary(dst)
	}
	for _, slot := range t.suffix {
		dst = t.appendNode(dst, slot)
	}
	for _, slot := range slices.Backward(t.prefix) {
		dst = t.appendNode(dst, slot)
	}
	return append(dst, make([]byte, end-len(dst))...)
}

func (t *Tree) appendNode(dst []byte, slot int) []byte {
	if slot == none {
		return dst
	}
	x := &t.slots[slot]
	return append(appendID(dst, x.id), x.seed[:]...)
}

func appendID(dst []byte, id noise.NodeID) []byte {
	dst = binary.LittleEndian.AppendUint16(dst, id.Instance)
	dst = binary.LittleEndian.AppendUint64(dst, id.Block)
	dst = append(dst, id.Level)
	return binary.LittleEndian.AppendUint64(dst, id.Index)
}

// Restore restores a state that AppendState wrote. It refuses, and leaves the tree unchanged, if the length, a node's
// place or an unused byte differs from the states that a tree of this window and dimension writes.
func (t *Tree) Restore(state []byte) error {
	if len(state) != t.StateLen() {
		return fmt.Errorf("windowtree: state: %d bytes, want %d", len(state), t.StateLen())
	}
	steps := binary.LittleEndian.Uint64(state)
	totals := state[8:]
	slots := totals[len(t.total)*lattice.Int128Len:]
	for _, b := range totals[:len(totals)-len(slots)] {
		if steps == 0 && b != 0 {
			return errors.New("windowtree: state: total is not zero before the first step")
		}
	}
	suffix, prefix := t.active(steps)
	var want [idLen]byte
	rest := slots
	for _, id := range slices.Concat(suffix, prefix) {
		if string(rest[:idLen]) != string(appendID(want[:0], id)) {
			return fmt.Errorf("windowtree: state: node identity does not belong to step %d", steps)
		}
		rest = rest[slotLen:]
	}
	for _, b := range rest {
		if b != 0 {
			return errors.New("windowtree: state: unused slot is not zero")
		}
	}
	t.reset(steps, totals)
	for i, id := range slices.Concat(suffix, prefix) {
		side := t.suffix
		if i >= len(suffix) {
			side = t.prefix
		}
		t.fill(side, id, noise.Seed(slots[i*slotLen+idLen:][:len(noise.Seed{})]))
	}
	return nil
}

// reset sets step and total and leaves no node active.
func (t *Tree) reset(steps uint64, totals []byte) {
	t.steps = steps
	for i := range t.total {
		t.total[i] = lattice.ParseInt128(totals[i*lattice.Int128Len:])
		t.noise[i] = lattice.Int128{}
	}
	for i := range t.slots {
		t.slots[i].id, t.slots[i].seed = noise.NodeID{}, noise.Seed{}
		clear(t.slots[i].values)
	}
	t.clearSlots()
}

// active returns the nodes of active(steps), computed from the definition. suffix is the dyadic suffix of [p+1, W] in
// the previous block, smallest node first; prefix is the dyadic prefix of [1, p] in the current block, largest node
// first.
func (t *Tree) active(steps uint64) (suffix, prefix []noise.NodeID) {
	if steps == 0 {
		return nil, nil
	}
	block, p := (steps-1)/t.window, (steps-1)%t.window+1
	id := func(block uint64, level int, start uint64) noise.NodeID {
		return noise.NodeID{Instance: t.instance, Block: block, Level: uint8(level), Index: start >> level}
	}
	if block > 0 {
		start := p
		for level := range t.slots {
			if (t.window-p)>>level&1 == 1 {
				suffix = append(suffix, id(block-1, level, start))
				start += 1 << level
			}
		}
	}
	start := uint64(0)
	for level := len(t.slots) - 1; level >= 0; level-- {
		if p>>level&1 == 1 {
			prefix = append(prefix, id(block, level, start))
			start += 1 << level
		}
	}
	return suffix, prefix
}
