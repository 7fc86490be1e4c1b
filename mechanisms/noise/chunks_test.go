package noise

import (
	"crypto/aes"
	"encoding/binary"
	"math"
	"math/big"
	"testing"
)

// cipherWords returns words of a seed by the definition: words 2p and 2p+1 are the encrypted counter block p, which is
// big-endian as NIST SP 800-38A, section 6.5, has it, and the words are little-endian.
func cipherWords(seed Seed) func(position uint64) uint64 {
	block := newCipher(&seed)
	return func(position uint64) uint64 {
		var in, out [aes.BlockSize]byte
		binary.BigEndian.PutUint64(in[8:], position/2)
		block.Encrypt(out[:], in[:])
		return binary.LittleEndian.Uint64(out[position%2*8:])
	}
}

// TestWordsAreTheCipherOfTheirPosition reads a stream of 2^18 words in calls of many lengths, by each implementation.
func TestWordsAreTheCipherOfTheirPosition(t *testing.T) {
	seed := Seed{3, 31: 9}
	at := cipherWords(seed)
	var chosen words
	var portable portableWords
	for name, w := range map[string]interface {
		start(key *Seed)
		read(dst []int64)
	}{"chosen": &chosen, "portable": &portable} {
		w.start(&seed)
		buf := make([]int64, 5000)
		for position, call := uint64(0), 0; position < 1<<18; call++ {
			read := buf[:[...]int{128, 5000, 1, 17, 4096, 127, 300}[call%7]]
			w.read(read)
			for i, x := range read {
				if want := at(position + uint64(i)); uint64(x) != want {
					t.Fatalf("%s: word %d is %x, want %x", name, position+uint64(i), uint64(x), want)
				}
			}
			position += uint64(len(read))
		}
	}
}

// TestLongVectorsAreTheirWords checks each coordinate of a vector of 1 000 chunks against its own word. No words may
// come again within a vector, because equal noise in two coordinates cancels in their difference.
func TestLongVectorsAreTheirWords(t *testing.T) {
	const n = 1000*chunkWords + 77
	seed := Seed{5, 31: 4}
	at := cipherWords(seed)
	draws := make([]int64, n)
	for _, law := range []string{"gaussian", "laplace", "discrete"} {
		a := answer{law: law, scale: Scale{Mant: 3, Exp: 30}}
		newSampler(t, law, a.scale, n).Fill(draws, seed)
		alone := a.sampler(t)
		var k keystream
		k.open(seed)
		for i, x := range draws {
			if want := alone.one(at(uint64(i)), k.extension(uint32(i))); x != want {
				t.Fatalf("%s: coordinate %d is %d, alone %d", law, i, x, want)
			}
		}
	}
}

// TestLongGammaVectorsAreTheirWords checks θ·χ·z for a vector of many chunks, where χ has the words 0 … n and
// coordinate i has word n+1+i.
func TestLongGammaVectorsAreTheirWords(t *testing.T) {
	const n = 9*1024 + 77
	seed := Seed{6, 31: 4}
	at := cipherWords(seed)
	draws := make([]int64, n)
	newSampler(t, "gamma", Scale{Mant: 1, Exp: 10}, n).Fill(draws, seed)
	square := 0.0
	for i := range uint64(n + 1) {
		y := quantile(at(i))
		square += y * y
	}
	length := math.Ldexp(math.Sqrt(square), 10)
	for i, x := range draws {
		want := length * quantile(at(uint64(n+1+i)))
		if math.Abs(float64(x)-want) > 1+1e-9*math.Abs(want) {
			t.Fatalf("coordinate %d is %d, want %.0f", i, x, want)
		}
	}
}

// TestFarWordsOfARadiusAreExtendedAtTheirPosition checks the radius of a vector whose word 154 is beyond the table, so
// that its extension counts. The seed was found by a search.
func TestFarWordsOfARadiusAreExtendedAtTheirPosition(t *testing.T) {
	const n, far = 200, 154
	seed := Seed{31: 7}
	binary.LittleEndian.PutUint32(seed[:], 2175222)
	word := cipherWords(seed)(far)
	if _, slack := gaussianCurve.fine(word); slack != beyond {
		t.Fatalf("word %x is not beyond the table", word)
	}
	g, err := NewGamma(Scale{Mant: 1, Exp: 20}, n)
	if err != nil {
		t.Fatal(err)
	}
	g.keys.open(seed)
	f := g.radius()
	slow := newSlowGamma(g.scale, n, seed)
	slow.refine(128)
	// θ·χ = mant·2^(frac−64−shift), as in TestGammaRadiusHoldsTheExactOne.
	exact := new(big.Float).SetPrec(300).SetInt(slow.chi.lo)
	exact.SetMantExp(exact, g.scale.Exp-int(slow.chi.p)+64+int(f.shift)-gaussianCurve.frac)
	exact.Sub(exact, new(big.Float).SetPrec(300).SetUint64(f.mant))
	if e, _ := exact.Float64(); math.Abs(e) > float64(f.slack-2) {
		t.Errorf("radius off by %g, slack %d", e, f.slack)
	}
}

// TestGammaDrawsInDoubtAreExtendedAtTheirPosition checks an entry of a second chunk that no 64 bits decide. The seed
// was found by a search.
func TestGammaDrawsInDoubtAreExtendedAtTheirPosition(t *testing.T) {
	const n, i = 255, 173
	s, seed := Scale{Mant: 1<<20 - 1, Exp: 22}, Seed{31: 8}
	binary.LittleEndian.PutUint32(seed[:], 381)
	draws := make([]int64, n)
	newSampler(t, "gamma", s, n).Fill(draws, seed)
	word, slow := cipherWords(seed)(n+1+i), newSlowGamma(s, n, seed)
	want := slow.decide(word, i)
	if want == slow.decide(word, i-chunkWords) {
		t.Fatal("the extension of an earlier chunk's word decides alike")
	}
	if draws[i] != want {
		t.Errorf("drawn %d, want %d", draws[i], want)
	}
}
