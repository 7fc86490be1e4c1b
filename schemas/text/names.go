package text

import (
	"bytes"
	"hash/maphash"
)

// NameSet holds the names of one object. Up to fewNames names it compares them one by one, which is fastest for real
// events. For more names it uses a hash table with a random seed, so that an attacker cannot choose names that collide.
// The seed affects only the time of a look-up, never its result.
type NameSet struct {
	seed  maphash.Seed
	names [][]byte
	table []uint16 // hash table of 1 + position in names; made on first use, and all zero between objects
}

const (
	// MaxNames bounds the named features of one event. Real events have tens of features; the bound limits the cost of
	// the duplicate check for a hostile event.
	MaxNames = 4096

	fewNames  = 16
	tableSize = 4 * MaxNames // a power of two, so that the table is at most a quarter full
)

// Reset empties the set.
func (s *NameSet) Reset() {
	if len(s.names) > fewNames {
		clear(s.table)
	}
	s.names = s.names[:0]
}

// Len returns the number of names in the set.
func (s *NameSet) Len() int { return len(s.names) }

// Add adds a name to the set. The name must stay unchanged until Reset.
func (s *NameSet) Add(name []byte) Code {
	n := len(s.names)
	if n < fewNames {
		for _, other := range s.names {
			if bytes.Equal(name, other) {
				return DuplicateName
			}
		}
		s.names = append(s.names, name)
		return OK
	}
	if n == MaxNames {
		return TooManyNames
	}
	if n == fewNames {
		if s.table == nil {
			s.table = make([]uint16, tableSize)
			s.seed = maphash.MakeSeed()
		}
		for k, other := range s.names {
			*s.place(other) = uint16(k + 1)
		}
	}
	p := s.place(name)
	s.names = append(s.names, name)
	if *p != 0 {
		return DuplicateName
	}
	*p = uint16(n + 1)
	return OK
}

// place finds the cell that holds the name, or the empty cell for it.
func (s *NameSet) place(name []byte) *uint16 {
	for h := maphash.Bytes(s.seed, name); ; h++ {
		p := &s.table[h%tableSize]
		if *p == 0 || bytes.Equal(s.names[*p-1], name) {
			return p
		}
	}
}
