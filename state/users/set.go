package users

import "encoding/binary"

// set is a set of ids. Memory is 16 bytes a slot, and slots are between 4/3 and 2 of the ids, see BytesPerUser. There
// are no pointers for the garbage collector to follow, except two a table.
//
// Ids are hashes under a secret, so their own bits say where they are: the first byte in which table, and the next ones
// near which slot of the table. Ids of a table are almost in ascending order, so a table grows in one pass over its
// memory. A set of 10⁷ ids moves 40 000 ids at once, which takes less than a millisecond. Tables keep their memory for
// the next period, and are cleared one by one when it first uses them.
type set struct {
	tables  [setTables]table
	counted bool // each id has a count
	periods uint64
}

// table is a part of a set. Its slots are free where they hold the zero id, which no user has (Hasher.ID).
type table struct {
	slots  []ID
	counts []uint16 // by slot, if the set is counted
	taken  int
	period uint64 // the set's periods when the table was last used
}

const (
	setTables  = 1 << 8
	leastSlots = 16
)

// newSet returns an empty set with room for a number of ids.
func newSet(ids uint64, counted bool) *set {
	s := &set{counted: counted}
	if ids > setTables*leastSlots {
		for i := range s.tables {
			s.tables[i].resize(int(ids/setTables*3/2)+leastSlots, counted)
		}
	}
	return s
}

// forget removes all ids.
func (s *set) forget() { s.periods++ }

// clear removes the ids of earlier periods, and their memory if they had little use for it.
func (t *table) clear(period uint64) {
	if 4*t.taken < len(t.slots) {
		*t = table{}
	}
	t.taken, t.period = 0, period
	clear(t.slots)
	clear(t.counts)
}

// bytes returns the memory of the set.
func (s *set) bytes() (n int) {
	for i := range s.tables {
		n += len(ID{})*len(s.tables[i].slots) + 2*len(s.tables[i].counts)
	}
	return n
}

// add adds an id if it is not in the set. count is the id's count, valid until the next add, or nil.
func (s *set) add(id *ID) (count *uint16, added bool) {
	t := &s.tables[id[0]]
	if t.period != s.periods {
		t.clear(s.periods)
	}
	if 4*(t.taken+1) > 3*len(t.slots) {
		t.resize(max(leastSlots, len(t.slots)*3/2), s.counted)
	}
	at := t.find(id)
	if added = t.slots[at] == (ID{}); added {
		t.slots[at] = *id
		t.taken++
	}
	if s.counted {
		count = &t.counts[at]
	}
	return count, added
}

// start returns the slot at which an id is looked for first.
func (t *table) start(id *ID) int {
	return int(uint64(binary.BigEndian.Uint32(id[1:])) * uint64(len(t.slots)) >> 32)
}

// find returns the slot of an id, or the free slot in which it belongs. One slot must be free.
func (t *table) find(id *ID) (at int) {
	for at = t.start(id); t.slots[at] != *id && t.slots[at] != (ID{}); {
		if at++; at == len(t.slots) {
			at = 0
		}
	}
	return at
}

// resize gives a table another number of slots, more than its ids.
func (t *table) resize(slots int, counted bool) {
	old := *t
	if t.slots = make([]ID, slots); counted {
		t.counts = make([]uint16, slots)
	}
	for i := range old.slots {
		if id := &old.slots[i]; *id != (ID{}) {
			at := t.find(id)
			if t.slots[at] = *id; counted {
				t.counts[at] = old.counts[i]
			}
		}
	}
}

// warm reads the slots at which ids are looked for first. The reads do not depend on each other, so a processor waits
// for all of them together, and adds that follow soon wait for none. It returns a number that depends on what it read,
// because the compiler must not leave the reads out.
func (s *set) warm(ids []ID) (read byte) {
	for i := range ids {
		if t := &s.tables[ids[i][0]]; len(t.slots) > 0 {
			read |= t.slots[t.start(&ids[i])][0]
		}
	}
	return read
}
