//go:build !purego

package noise

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestNativeWordsAreThePortableWords compares nativeWords with portableWords for random keys, read in calls of any
// length.
func TestNativeWordsAreThePortableWords(t *testing.T) {
	if !hasAES {
		t.Skip("this processor has no AES instructions")
	}
	r := rand.New(rand.NewPCG(5, 6))
	native, portable := new(nativeWords), new(portableWords)
	for range 200 {
		var key Seed
		for i := range key {
			key[i] = byte(r.Uint32())
		}
		native.start(&key)
		portable.start(&key)
		for range 20 {
			n := r.IntN(3 * groupWords)
			if r.IntN(4) == 0 {
				n = r.IntN(3 * chunkWords)
			}
			got, want := make([]int64, n), make([]int64, n)
			native.read(got)
			portable.read(want)
			if !slices.Equal(got, want) {
				t.Fatalf("key %x, %d words to word %d: differ", [32]byte(key), n, native.used)
			}
		}
	}
}

// TestNativeWordsHaveAllBitsOfTheirPosition reads words far behind those of any vector. Numbers of counter blocks have
// 64 bits.
func TestNativeWordsHaveAllBitsOfTheirPosition(t *testing.T) {
	if !hasAES {
		t.Skip("this processor has no AES instructions")
	}
	seed := Seed{8}
	at := cipherWords(seed)
	var w nativeWords
	for _, from := range []uint64{1<<17 - groupWords, 1<<33 - groupWords, 1 << 62} {
		w.start(&seed)
		w.used = from // the start of a group
		for _, n := range []int{3, 60, groupWords} {
			words, position := make([]int64, n), w.used
			w.read(words)
			for i, x := range words {
				if want := at(position + uint64(i)); uint64(x) != want {
					t.Fatalf("word %d is %x, want %x", position+uint64(i), uint64(x), want)
				}
			}
		}
	}
}

func TestNativeWordsAllocateNothing(t *testing.T) {
	if !hasAES {
		t.Skip("this processor has no AES instructions")
	}
	for _, law := range []string{"gaussian", "laplace", "gamma"} {
		for _, n := range []int{32, 1000} {
			s := newSampler(t, law, Scale{Mant: 1, Exp: 20}, n)
			dst := make([]int64, n)
			if allocs := testing.AllocsPerRun(100, func() { s.Fill(dst, Seed{1}) }); allocs != 0 {
				t.Errorf("%s n=%d: Fill allocates %v times", law, n, allocs)
			}
		}
	}
}
