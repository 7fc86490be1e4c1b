package users

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// TestSetIsAMap compares a set with a map, through several growths, with counts and without. Most ids share the bits
// by which slots are found, as ids do that were chosen by an adversary who had the secret, or are at the end of their
// table.
func TestSetIsAMap(t *testing.T) {
	for name, like := range map[string]func(rng *rand.Rand) ID{
		"random": func(rng *rand.Rand) (id ID) {
			binary.LittleEndian.PutUint64(id[:], rng.Uint64()|1)
			return id
		},
		"one slot": func(rng *rand.Rand) (id ID) {
			binary.LittleEndian.PutUint64(id[8:], 1+rng.Uint64N(3000))
			return id
		},
		"the last slots": func(rng *rand.Rand) (id ID) {
			binary.BigEndian.PutUint64(id[:], ^uint64(0)-rng.Uint64N(3))
			binary.LittleEndian.PutUint64(id[8:], rng.Uint64N(1000))
			return id
		},
	} {
		for _, counted := range []bool{false, true} {
			rng := rand.New(rand.NewPCG(1, 2))
			s, known := newSet(0, counted), map[ID]uint16{}
			for range 6000 {
				id := like(rng)
				count, is := known[id]
				got, added := s.add(&id)
				if added == is || (got != nil) != counted || counted && *got != count {
					t.Fatalf("%s: added %t, want %t; count %d", name, added, !is, count)
				}
				if known[id] = count + 1; counted {
					*got++
				}
			}
			slots, taken := 0, 0
			for i := range s.tables {
				slots, taken = slots+len(s.tables[i].slots), taken+s.tables[i].taken
				if n := s.tables[i].taken; 4*n > 3*len(s.tables[i].slots) || n > 100 && 2*n < len(s.tables[i].slots) {
					t.Fatalf("%s: %d ids in %d slots", name, n, len(s.tables[i].slots))
				}
			}
			if taken != len(known) || s.bytes() != slots*map[bool]int{false: 16, true: 18}[counted] {
				t.Fatalf("%s: %d ids, want %d, in %d slots and %d bytes", name, taken, len(known), slots, s.bytes())
			}
			for id, count := range known {
				if got, added := s.add(&id); added || counted && *got != count {
					t.Fatalf("%s: an id is lost, or its count", name)
				}
			}
		}
	}
}

// TestGrowthIsLocal checks that a growth moves a small part of many ids at once, so that no walk stands still.
func TestGrowthIsLocal(t *testing.T) {
	s, rng := newSet(0, false), rand.New(rand.NewPCG(3, 4))
	for n := range 200_000 {
		var id ID
		binary.BigEndian.PutUint64(id[:], rng.Uint64()|1)
		s.add(&id)
		if most := n/128 + 2*leastSlots; s.tables[id[0]].taken > most {
			t.Fatalf("a table has %d of %d ids", s.tables[id[0]].taken, n)
		}
	}
}

// TestForgottenIdsKeepTheirMemory checks that a set is empty in a new period, and adds as many ids as before without
// memory; later it gives memory back that a small period does not need.
func TestForgottenIdsKeepTheirMemory(t *testing.T) {
	s := newSet(0, true)
	fill := func(ids uint64) {
		for n := range ids {
			var id ID
			binary.BigEndian.PutUint64(id[:], (n+1)*0x9e3779b97f4a7c15)
			count, added := s.add(&id)
			if *count++; !added || *count != 1 {
				t.Fatalf("id %d of a new period is known", n)
			}
		}
	}
	fill(100_000)
	most := s.bytes()
	for range 3 {
		s.forget()
		if n := testing.AllocsPerRun(1, func() { s.forget(); fill(100_000) }); n != 0 || s.bytes() != most {
			t.Errorf("a period like the one before allocates %v times, and takes %d bytes", n, s.bytes())
		}
	}
	s.forget()
	fill(10_000)
	s.forget()
	if fill(10_000); s.bytes() > most/4 {
		t.Errorf("a small period takes %d bytes", s.bytes())
	}
}

// TestWarmReadsEverySlot checks that warm takes ids of tables without slots, with some and of the last slot.
func TestWarmReadsEverySlot(t *testing.T) {
	s := newSet(0, false)
	ids := []ID{{}, {1}, {1, 255, 255, 255, 255, 9}, {255, 255, 255, 255, 255}}
	s.add(&ids[2])
	if s.warm(ids) != 1 {
		t.Error("the id in the last slot is not read")
	}
}
