package numbers

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// dense computes the result of filter.of by summing the weight of every draw, increment by increment: increment t has
// e_{t−s} times the draw of step s of the same block.
func dense(period uint64, poles, residues []float64, spans []span) float64 {
	e := func(j uint64) float64 {
		if j == 0 {
			return 1
		}
		x := 0.0
		for k, q := range poles {
			x -= residues[k] / one * math.Pow(q/one, float64(j-1))
		}
		return x
	}
	v, single := 0.0, 0.0
	for s := uint64(1); s <= spans[len(spans)-1].to; s++ {
		weight := 0.0
		for _, x := range spans {
			for t := max(x.from+1, s); t <= x.to && (t-1)/period == (s-1)/period; t++ {
				weight += e(t - s)
			}
		}
		v += weight * weight
	}
	for j := range uint64(2000) {
		single += e(j) * e(j)
	}
	return v / single
}

// TestFilterIsTheDenseSum compares filter.of with dense: at the start of a stream, over resets, with gaps, and far
// within a block.
func TestFilterIsTheDenseSum(t *testing.T) {
	poles, residues := []float64{975602355, 328632580}, []float64{21170073, 487478718} // filter for a memory of 64 steps
	random := rand.New(rand.NewPCG(3, 4))
	for _, period := range []uint64{1, 8, 64, 65536} {
		f, err := newFilter(slices.Concat([]float64{float64(period)}, poles, residues))
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			var spans []span
			at := random.Uint64N(40)
			for range 1 + random.IntN(6) {
				from := at + random.Uint64N(30)
				at = from + 1 + random.Uint64N(50)
				spans = append(spans, span{from, at})
			}
			spans = join(spans)
			if got, want := f.of(spans), dense(period, poles, residues, spans); math.Abs(got/want-1) > 1e-9 {
				t.Errorf("period %d, %v: %g, want %g", period, spans, got, want)
			}
		}
	}
	for _, w := range []uint64{1, 100} { // the noise of the start has decayed by then
		f, _ := newFilter(slices.Concat([]float64{1 << 30}, poles, residues))
		near, far := f.of([]span{{4000, 4000 + w}}), f.of([]span{{1 << 29, 1<<29 + w}})
		if math.Abs(near/far-1) > 1e-9 || w == 1 && math.Abs(far-1) > 1e-9 {
			t.Errorf("%d steps: %g and %g", w, near, far)
		}
	}
}

// TestWhatIsNoFilterIsRefused checks that newFilter refuses non-dyadic numbers, an even count, and poles and residues
// that do not decay.
func TestWhatIsNoFilterIsRefused(t *testing.T) {
	for _, numbers := range [][]float64{
		nil,
		{64},
		{64, 1, 2, 3},
		{0, 1 << 29, 1},
		{64, 1 << 30, 1},
		{64, 1.5, 1},
		{64, 1 << 29, 0},
		{64, math.NaN(), 1},
		{64, 1 << 29, 1 << 29},
		{math.Inf(1), 1 << 29, 1},
	} {
		if _, err := newFilter(numbers); err == nil {
			t.Errorf("%v is taken", numbers)
		}
	}
}
