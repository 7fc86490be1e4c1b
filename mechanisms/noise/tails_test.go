package noise

import (
	"encoding/binary"
	"math"
	"testing"
)

// quantile returns the normal quantile of a word's cell in standard deviations, by an independent implementation, good
// to 1e-12.
func quantile(word uint64) float64 {
	v, mask := fold(word)
	x := math.Sqrt2 * math.Erfcinv(math.Ldexp(2*float64(v)+1, -64))
	if mask == 0 {
		return -x
	}
	return x
}

// isQuantile fails unless a draw at scale 2^40 equals want, up to the precision of float64.
func isQuantile(t *testing.T, what string, got int64, want float64) {
	t.Helper()
	if x := math.Ldexp(float64(got), -40); !(math.Abs(x-want) <= 1e-9*math.Max(1, math.Abs(want))) {
		t.Errorf("%s: draw of %.9f scales, want %.9f", what, x, want)
	}
}

// TestDrawsAreTheQuantilesOfTheirWords checks every entry of a vector, for every path, up to 6 standard deviations,
// with seeds found by search. No draw may be clamped, redrawn or mixed with its neighbours.
func TestDrawsAreTheQuantilesOfTheirWords(t *testing.T) {
	const n = 4096
	s := Scale{Mant: 1, Exp: 40}
	gauss, laplace := newSampler(t, "gaussian", s, n), newSampler(t, "laplace", s, n)
	normal, other, words := make([]int64, n), make([]int64, n), make([]int64, n)
	for _, far := range []struct {
		seed  uint32
		place int
		want  float64 // the draw at place, in scales; found by a search over seeds
	}{
		{4, 3349, 4.0448},
		{6, 1748, -4.0051},
		{21, 2342, 4.5294},
		{34, 4002, -4.5164},
		{1431, 4046, 5.1259},
		{1107, 14, -5.0061},
		{1292, 3440, 5.5205},
		{7, 2212, -5.5138},
		{141647, 2714, -6.0378},
	} {
		var seed Seed
		binary.LittleEndian.PutUint32(seed[:], far.seed)
		gauss.Fill(normal, seed)
		laplace.Fill(other, seed)
		var k keystream
		k.open(seed)
		k.read(words)
		for i, word := range words {
			isQuantile(t, "gaussian", normal[i], quantile(uint64(word)))
			v, mask := fold(uint64(word))
			tail := -math.Log(math.Ldexp(2*float64(v)+1, -64))
			if mask == 0 {
				tail = -tail
			}
			isQuantile(t, "laplace", other[i], tail)
		}
		if got := math.Ldexp(float64(normal[far.place]), -40); math.Abs(got-far.want) > 5e-5 {
			t.Errorf("seed %d: draw %d is %.4f scales, want %.4f", far.seed, far.place, got, far.want)
		}
	}
}

// TestGammaDrawsAreTheProductOfTheirWords checks θ·χ_{n+1}·z for each vector, as far into the tail as 2^16 vectors
// reach.
func TestGammaDrawsAreTheProductOfTheirWords(t *testing.T) {
	for _, n := range []int{1, 3} {
		sampler, most := newSampler(t, "gamma", Scale{Mant: 1, Exp: 40}, n), 0.0
		draws, words := make([]int64, n), make([]int64, 2*n+1)
		for i := range uint32(1 << 16) {
			seed := Seed{31: byte(n)}
			binary.LittleEndian.PutUint32(seed[:], i)
			sampler.Fill(draws, seed)
			var k keystream
			k.open(seed)
			k.read(words)
			square := 0.0
			for _, word := range words[:n+1] {
				y := quantile(uint64(word))
				square += y * y
			}
			for j, word := range words[n+1:] {
				isQuantile(t, "gamma", draws[j], math.Sqrt(square)*quantile(uint64(word)))
				most = max(most, math.Abs(math.Ldexp(float64(draws[j]), -40)))
			}
		}
		if most < 9 { // beyond 9 scales there are e^−9·2^16 = 8 entries at n = 1
			t.Errorf("n=%d: no entry beyond %g scales: the test tests no tail", n, most)
		}
	}
}
