package noise

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"strings"
	"testing"
)

// TestTagIsItsDefinition checks that a tag is the HMAC of the message that doc.go defines, and differs from key, seed
// and the tags of other names.
func TestTagIsItsDefinition(t *testing.T) {
	for _, name := range []string{"", "intent", strings.Repeat("long", 500)} {
		chain := NewChain([32]byte{7})
		chain.Absorb(1, 0, Identity{Offset: 4}, []int64{3})
		key := chain.Key()
		message := append([]byte{1, 3, 0, 0, 0}, "tag"...)
		message = binary.LittleEndian.AppendUint32(append(message, 7), uint32(len(name)))
		want := mac(key, append(message, name...))
		seed := chain.Seed(NodeID{Index: 1})
		if tag := chain.Tag(name); want != tag || tag == key || tag == [32]byte(seed) || tag == chain.Tag(name+"x") {
			t.Errorf("tag of %.10q: %x, want %x", name, tag, want)
		}
		if chain.Key() != key || chain.Seed(NodeID{Index: 1}) != seed {
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
			shared[k].Absorb(uint64(i), 0, id, []int64{int64(i)})
			alone[k].Absorb(uint64(i), 0, id, []int64{int64(i)})
		}
		for range 2 {
			if shared[k].Seed(NodeID{Index: uint64(i)}) != alone[k].Seed(NodeID{Index: uint64(i)}) ||
				shared[k].Tag("a") != alone[k].Tag("a") {
				t.Fatalf("round %d: chain %d is another one with a shared scratch", i, k)
			}
		}
	}
}

// TestDrawIsItsDefinition checks that a draw ratchets the key over the message that doc.go defines, and that its seed
// has its own domain.
func TestDrawIsItsDefinition(t *testing.T) {
	for _, count := range []int{0, 3, 200, 3000} {
		chain, scores := NewChain([32]byte{7}), make([]int64, count)
		for i := range scores {
			scores[i] = int64(i) - 50
		}
		key := chain.Key()
		seed := chain.Draw(9, 4, 513, [4]uint64{1, 2, 3, 1 << 63}, scores)
		message := append([]byte{1, 6, 0, 0, 0}, "choice"...)
		message = binary.LittleEndian.AppendUint64(append(message, 2), 9)
		message = binary.LittleEndian.AppendUint32(append(message, 3), 4)
		message = binary.LittleEndian.AppendUint16(append(message, 8), 513)
		for _, x := range []uint64{1, 2, 3, 1 << 63} {
			message = binary.LittleEndian.AppendUint64(message, x)
		}
		message = binary.LittleEndian.AppendUint32(message, uint32(count))
		for _, x := range scores {
			message = binary.LittleEndian.AppendUint64(message, uint64(x))
		}
		next := mac(key, message)
		if chain.Key() != next || seed != Seed(mac(next, append([]byte{1, 4, 0, 0, 0}, "draw"...))) {
			t.Errorf("%d scores: key %x and seed are not those of the definition", count, chain.Key())
		}
	}
}

func mac(key [32]byte, message []byte) [32]byte {
	m := hmac.New(sha256.New, key[:])
	m.Write(message)
	return [32]byte(m.Sum(nil))
}
