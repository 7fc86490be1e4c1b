package pending

import (
	"hash/maphash"
	"math/bits"
)

const none = -1

// index finds places by the hash of their name. Each bucket is a chain of places, newest first.
type index struct {
	seed  maphash.Seed
	heads []int32 // newest place of each hash, plus 1; 0: none
	next  []int32 // next older place with the same hash, plus 1; 0: none
}

func newIndex(capacity int) index {
	return index{
		seed:  maphash.MakeSeed(),
		heads: make([]int32, 1<<bits.Len(uint(capacity))), // a power of two above capacity
		next:  make([]int32, capacity),
	}
}

func (x *index) head(name []byte) *int32 {
	return &x.heads[maphash.Bytes(x.seed, name)&uint64(len(x.heads)-1)]
}

func (x *index) first(name []byte) int { return int(*x.head(name)) - 1 }

func (x *index) after(at int) int { return int(x.next[at]) - 1 }

func (x *index) add(name []byte, at int) {
	h := x.head(name)
	x.next[at], *h = *h, int32(at+1)
}

// remove removes a place from the chain of its name, which must contain it.
func (x *index) remove(name []byte, at int) {
	p := x.head(name)
	for int(*p)-1 != at {
		p = &x.next[*p-1]
	}
	*p = x.next[at]
}

func (x *index) reset() { clear(x.heads) }
