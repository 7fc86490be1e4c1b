package noise

import (
	"crypto/hmac"
	"crypto/sha256"
	"strings"
	"testing"
)

// TestTagIsItsDefinition checks that a tag is the HMAC of the message that doc.go defines, and differs from key, seed
// and the tags of other names.
func TestTagIsItsDefinition(t *testing.T) {
	for _, name := range []string{"", "intent", strings.Repeat("long", 500)} {
		chain, want := NewChain([32]byte{7}), reference{key: [32]byte{7}}
		for p := range int32(20) {
			want.events = append(want.events, absorbed{Identity{Topic: [16]byte{1}, Partition: p % 13}, []int64{3}})
			chain.Absorb(want.events[p].id, want.events[p].contribution)
		}
		key, seed := chain.key, chain.Seed(NodeID{Index: 1})
		if tag := chain.Tag(name); want.tag(name) != tag || tag == key || tag == [32]byte(seed) ||
			tag == chain.Tag(name+"x") {
			t.Errorf("tag of %.10q: %x, want %x", name, tag, want.tag(name))
		}
		if chain.key != key || chain.Seed(NodeID{Index: 1}) != seed {
			t.Error("a tag moves the chain")
		}
	}
}

// TestChainsOfOneScratchAreIndependent alternates chains of one scratch. They must equal chains with their own scratch,
// because no chain may read what another leaves.
func TestChainsOfOneScratchAreIndependent(t *testing.T) {
	scratch := NewScratch()
	var shared, alone [3]Chain
	for k := range shared {
		shared[k], alone[k] = scratch.Chain([32]byte{byte(k)}), *NewChain([32]byte{byte(k)})
	}
	for i := range 50 {
		k := i * i % 3
		if i%4 == 0 {
			id := Identity{Offset: int64(i)}
			for _, c := range []*Chain{&shared[k], &alone[k]} {
				c.Absorb(id, []int64{int64(i)})
				c.Close(uint64(i))
			}
		}
		for range 2 {
			if shared[k].Seed(NodeID{Index: uint64(i)}) != alone[k].Seed(NodeID{Index: uint64(i)}) ||
				shared[k].Tag("a") != alone[k].Tag("a") {
				t.Fatalf("round %d: chain %d is another one with a shared scratch", i, k)
			}
		}
	}
}

// TestDrawIsItsDefinition checks that a draw ratchets the key over the message that doc.go defines, that its seed has
// its own domain, and that the key of the seed does not stay.
func TestDrawIsItsDefinition(t *testing.T) {
	for _, count := range []int{0, 3, 200, 3000} {
		chain, scores := NewChain([32]byte{7}), make([]int64, count)
		for i := range scores {
			scores[i] = int64(i) - 50
		}
		rate := [4]uint64{1, 2, 3, 1 << 63}
		message := packed(byte(2), uint64(9), byte(7), uint16(513), rate, uint32(count), scores)
		next := mac(chain.key, append(named("choice"), message...))
		seed := chain.Draw(9, 513, rate, scores)
		if seed != Seed(mac(next, named("draw"))) || chain.key != mac(next, named("drawn")) {
			t.Errorf("%d scores: key and seed are not those of the definition", count)
		}
	}
}

func mac(key [32]byte, message []byte) [32]byte {
	m := hmac.New(sha256.New, key[:])
	m.Write(message)
	return [32]byte(m.Sum(nil))
}
