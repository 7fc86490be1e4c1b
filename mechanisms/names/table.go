package names

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"slices"

	"oriel/mechanisms/contribution"
)

// Table counts names. It holds no pointer for a name: names lie in an arena, and an open-addressing table has their
// numbers. So a name costs its own bytes and some 60 more, and only a new name allocates. The seed of the hash is
// random, so that nobody can choose names that collide. It decides no result, only the time that it takes.
type Table struct {
	seed    maphash.Seed
	slots   []uint32 // number of an entry, plus 1; 0 is a free slot
	entries []entry
	arena   [][]byte // chunks of arenaChunk bytes; the last one has room
	changed []uint32 // entries whose counts are not whole in parts
	total   uint64   // sum of all counts
	part    []byte   // scratch of Part
}

// entry is a name with its count.
type entry struct {
	count, parts uint64 // count, and how much of it is in parts
	place        uint32 // of the name in the arena, in units of arenaUnit
	length       uint16
	check        uint16 // high bits of the hash
}

const (
	// MaxBytes is the longest name that a table takes.
	MaxBytes = contribution.MaxNameBytes

	arenaChunk = 1 << 20
	arenaUnit  = 4 // bytes; 2³² units are 16 GiB of names
)

// Add counts a name n times more.
func (t *Table) Add(name []byte, n uint64) { t.bump(name, n).count += n }

// bump returns the entry of a name, and makes it if there is none. The total grows by n.
func (t *Table) bump(name []byte, n uint64) *entry {
	if len(name) < 1 || len(name) > MaxBytes {
		panic(fmt.Sprintf("BUG: names: a name of %d bytes: not in [1, %d]", len(name), MaxBytes))
	}
	if 4*len(t.entries) >= 3*len(t.slots) {
		t.grow()
	}
	t.total += n
	hash := maphash.Bytes(t.seed, name)
	slot, e := t.find(name, hash)
	if e != nil {
		return t.mark(e, t.slots[slot]-1)
	}
	t.slots[slot] = uint32(len(t.entries)) + 1
	t.entries = append(t.entries, entry{place: t.store(name), length: uint16(len(name)), check: uint16(hash >> 48)})
	return t.mark(&t.entries[len(t.entries)-1], t.slots[slot]-1)
}

// mark lists an entry as changed, if it is not yet.
func (t *Table) mark(e *entry, number uint32) *entry {
	if e.count == e.parts {
		t.changed = append(t.changed, number)
	}
	return e
}

// find returns the slot of a name with its entry, or the free slot for it and nil.
func (t *Table) find(name []byte, hash uint64) (slot uint64, e *entry) {
	mask := uint64(len(t.slots) - 1)
	for slot = hash & mask; t.slots[slot] != 0; slot = (slot + 1) & mask {
		e = &t.entries[t.slots[slot]-1]
		if e.check == uint16(hash>>48) && bytes.Equal(t.name(e), name) {
			return slot, e
		}
	}
	return slot, nil
}

// grow doubles the slots.
func (t *Table) grow() {
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
	}
	t.slots = make([]uint32, max(64, 2*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for i := range t.entries {
		slot := maphash.Bytes(t.seed, t.name(&t.entries[i])) & mask
		for t.slots[slot] != 0 {
			slot = (slot + 1) & mask
		}
		t.slots[slot] = uint32(i) + 1
	}
}

// store copies a name to the arena.
func (t *Table) store(name []byte) (place uint32) {
	last := len(t.arena) - 1
	if last < 0 || len(t.arena[last])+len(name) > arenaChunk {
		if last++; last == math.MaxUint32/(arenaChunk/arenaUnit) {
			panic("BUG: names: 16 GiB of names in one step")
		}
		t.arena = append(t.arena, make([]byte, 0, arenaChunk))
	}
	chunk := t.arena[last]
	place = uint32(last*(arenaChunk/arenaUnit) + len(chunk)/arenaUnit)
	chunk = append(chunk, name...)
	t.arena[last] = chunk[:min(arenaChunk, (len(chunk)+arenaUnit-1)/arenaUnit*arenaUnit)]
	return place
}

// name returns the name of an entry.
func (t *Table) name(e *entry) []byte {
	const chunk = arenaChunk / arenaUnit
	from := e.place % chunk * arenaUnit
	return t.arena[e.place/chunk][from : from+uint32(e.length) : from+uint32(e.length)]
}

// Len returns the number of names.
func (t *Table) Len() int { return len(t.entries) }

// Total returns the sum of all counts.
func (t *Table) Total() uint64 { return t.total }

// Bytes returns the memory of the table.
func (t *Table) Bytes() int {
	return len(t.arena)*arenaChunk + 4*cap(t.slots) + 24*cap(t.entries) + 4*cap(t.changed) + cap(t.part)
}

// Reset forgets all names. The memory of entries and slots stays, for the next step.
func (t *Table) Reset() {
	clear(t.slots)
	t.entries, t.changed, t.total = t.entries[:0], t.changed[:0], 0
	if clear(t.arena[min(len(t.arena), 1):]); len(t.arena) > 0 {
		t.arena = append(t.arena[:0], t.arena[0][:0])
	}
}

// Part returns names with the counts that no earlier part has, at most max bytes of them, and false if there are none.
// The parts of a step, given to Take in any order, make its table again. A part is valid until the next call. A part is
// a sequence of
//
//	length u16   name   count uvarint
//
// max must leave room for one name: MaxBytes and 12.
func (t *Table) Part(max int) (part []byte, some bool) {
	if max < MaxBytes+2+binary.MaxVarintLen64 {
		panic(fmt.Sprintf("BUG: names: a part of at most %d bytes has no room for a name", max))
	}
	t.part = t.part[:0]
	for len(t.changed) > 0 {
		last := len(t.changed) - 1
		e := &t.entries[t.changed[last]]
		before := len(t.part)
		t.part = binary.LittleEndian.AppendUint16(t.part, e.length)
		t.part = binary.AppendUvarint(append(t.part, t.name(e)...), e.count-e.parts)
		if len(t.part) > max {
			return t.part[:before], true
		}
		e.parts, t.changed = e.count, t.changed[:last]
	}
	return t.part, len(t.part) > 0
}

// Again forgets which counts are in parts, so that the next parts have the whole table.
func (t *Table) Again() {
	t.changed = slices.Grow(t.changed[:0], len(t.entries))
	for i := range t.entries {
		t.entries[i].parts = 0
		t.changed = append(t.changed, uint32(i))
	}
}

var errPart = errors.New("names: a part is not as a table writes it")

// Take adds the counts of a part. They are in a part, so that Part does not return them. If the part is damaged, Take
// returns an error and changes nothing.
func (t *Table) Take(part []byte) error {
	sum := t.total
	for rest := part; len(rest) > 0; {
		_, count, after := cut(rest)
		if sum += count; count == 0 || sum < count {
			return errPart
		}
		rest = after
	}
	for len(part) > 0 {
		name, count, rest := cut(part)
		listed := len(t.changed)
		e := t.bump(name, count)
		e.count, e.parts, t.changed, part = e.count+count, e.parts+count, t.changed[:listed], rest
	}
	return nil
}

// cut returns the first name of a part with its count, and the rest; count is 0 if the part is damaged.
func cut(part []byte) (name []byte, count uint64, rest []byte) {
	if len(part) < 2 {
		return nil, 0, nil
	}
	length := int(binary.LittleEndian.Uint16(part))
	if length < 1 || length > MaxBytes || len(part) < 2+length {
		return nil, 0, nil
	}
	name = part[2 : 2+length]
	count, n := binary.Uvarint(part[2+length:])
	if n <= 0 || n > 1 && part[2+length+n-1] == 0 {
		return nil, 0, nil
	}
	return name, count, part[2+length+n:]
}
