package noise

import (
	"fmt"
	"math"
	"testing"
)

// A normal statistic exceeds this with probability 1e-9, two-sided. Seeds are fixed, so a failure means a bug.
const standardErrors = 6.11

// near fails unless mean is within standardErrors of want; want is the expected mean, and deviation the standard
// deviation of one term.
func near(t *testing.T, what string, mean, want, deviation float64, terms int) {
	t.Helper()
	if tolerance := standardErrors * deviation / math.Sqrt(float64(terms)); !(math.Abs(mean-want) <= tolerance) {
		t.Errorf("%s: %g, want %g ± %g", what, mean, want, tolerance)
	}
}

// chiSquare compares counts with probabilities; the cube root of the statistic divided by its degrees of freedom is
// close to normal (Wilson and Hilferty 1931).
func chiSquare(t *testing.T, what string, counts map[int64]int, total int, probability func(k int64) float64,
	top int64,
) {
	t.Helper()
	statistic, cells, rest, restCount := 0.0, 0, 1.0, total
	for k := -top; k <= top; k++ {
		p := probability(k)
		expected := p * float64(total)
		d := float64(counts[k]) - expected
		statistic += d * d / expected
		cells++
		rest -= p
		restCount -= counts[k]
	}
	d := float64(restCount) - rest*float64(total)
	statistic += d * d / (rest * float64(total))
	freedom := float64(cells) // degrees of freedom: the cells and one cell for the rest, minus one
	z := (math.Cbrt(statistic/freedom) - (1 - 2/(9*freedom))) / math.Sqrt(2/(9*freedom))
	if z > standardErrors {
		t.Errorf("%s: chi-square %g at %g degrees of freedom, %g standard errors", what, statistic, freedom, z)
	}
}

const lawDraws = 1 << 20

// draw returns lawDraws values, in vectors of n.
func draw(t *testing.T, law string, s Scale, n int) []int64 {
	t.Helper()
	sampler := newSampler(t, law, s, n)
	out := make([]int64, lawDraws/n*n)
	for i := 0; i < len(out); i += n {
		sampler.Fill(out[i:i+n], Seed{byte(i), byte(i >> 8), byte(i >> 16), byte(n), law[1]})
	}
	return out
}

// moment returns the mean of the k-th power of x/s.
func moment(draws []int64, s float64, k float64) float64 {
	sum := 0.0
	for _, v := range draws {
		sum += math.Pow(float64(v)/s, k)
	}
	return sum / float64(len(draws))
}

// TestTailsOfSmallScales uses scales at which only words beyond the table give nonzero draws.
func TestTailsOfSmallScales(t *testing.T) {
	// −ln(2·4·2^-64)/32 = 1.32, and Φ⁻¹ of 2^-62 is 8.94: at s = 1/16 the word 0 rounds to 1, and the word 2^40 (x =
	// 5.04) to 0.
	for _, c := range []struct {
		law  string
		exp  int
		word uint64
		want int64
	}{{"laplace", -5, 4, -1}, {"laplace", -5, ^uint64(4), 1}, {"gaussian", -4, 4, -1}, {
		"gaussian", -4, ^uint64(4),
		1,
	}, {"gaussian", -4, 1 << 40, 0}} {
		a := answer{law: c.law, scale: Scale{Mant: 1, Exp: c.exp}, words: []uint64{c.word, 1 << 62}}
		if got := a.sampler(t).one(c.word, a.extend()); got != c.want {
			t.Errorf("%v: got %d, want %d", a, got, c.want)
		}
	}
}

func TestGaussianLaw(t *testing.T) {
	draws := draw(t, "gaussian", Scale{Mant: 1, Exp: 29}, 4096)
	// E Z^2k = (2k−1)!!; the deviation of Z^k is √(E Z^2k − (E Z^k)²).
	near(t, "mean", moment(draws, 1<<29, 1), 0, 1, len(draws))
	near(t, "second moment", moment(draws, 1<<29, 2), 1, math.Sqrt(2), len(draws))
	near(t, "third moment", moment(draws, 1<<29, 3), 0, math.Sqrt(15), len(draws))
	near(t, "fourth moment", moment(draws, 1<<29, 4), 3, math.Sqrt(96), len(draws))

	upper := func(x float64) float64 { return math.Erfc(x/math.Sqrt2) / 2 }
	// Only 66 in a million draws are beyond 4 s, so the moments hardly depend on them. A sampler that clamps at 4 s
	// fails here by 8 standard errors.
	for _, k := range []float64{2, 3, 3.5, 4} {
		beyond := 0.0
		for _, v := range draws {
			if math.Abs(float64(v)) > k*(1<<29) {
				beyond++
			}
		}
		p := 2 * upper(k)
		near(t, fmt.Sprintf("draws beyond %g s", k), beyond/float64(len(draws)), p, math.Sqrt(p*(1-p)), len(draws))
	}
	for _, s := range []Scale{{Mant: 1, Exp: 0}, {Mant: 5, Exp: 0}, {Mant: 1, Exp: -1}} {
		counts := map[int64]int{}
		for _, v := range draw(t, "gaussian", s, 4096) {
			counts[v]++
		}
		f := s.Float64()
		chiSquare(t, "gaussian "+s.String(), counts, lawDraws, func(k int64) float64 {
			return upper((math.Abs(float64(k))-0.5)/f) - upper((math.Abs(float64(k))+0.5)/f)
		}, int64(3.5*f))
	}
}

func TestLaplaceLaw(t *testing.T) {
	draws := draw(t, "laplace", Scale{Mant: 1, Exp: 29}, 4096)
	signs, size := 0.0, 0.0
	for _, v := range draws {
		size += math.Abs(float64(v)) / (1 << 29)
		signs += math.Copysign(1, float64(v))
	}
	n := float64(len(draws))
	// |Y| is exponential: E|Y|^k = k!.
	near(t, "sign", signs/n, 0, 1, len(draws))
	near(t, "mean size", size/n, 1, 1, len(draws))
	near(t, "second moment", moment(draws, 1<<29, 2), 2, math.Sqrt(24-4), len(draws))
	near(t, "third moment", moment(draws, 1<<29, 3), 0, math.Sqrt(720), len(draws))

	for _, s := range []Scale{{Mant: 1, Exp: 0}, {Mant: 3, Exp: 0}} {
		counts := map[int64]int{}
		for _, v := range draw(t, "laplace", s, 4096) {
			counts[v]++
		}
		f := s.Float64()
		upper := func(x float64) float64 {
			if x < 0 {
				return 1 - math.Exp(x)/2
			}
			return math.Exp(-x) / 2
		}
		chiSquare(t, "laplace "+s.String(), counts, lawDraws, func(k int64) float64 {
			return upper((math.Abs(float64(k))-0.5)/f) - upper((math.Abs(float64(k))+0.5)/f)
		}, int64(8*f))
	}
}

// TestGammaLaw checks that ‖x‖/θ has density r^(n−1)·e^−r/(n−1)! and that the direction is uniform.
func TestGammaLaw(t *testing.T) {
	for _, n := range []int{1, 2, 3, 10, 64} {
		draws := draw(t, "gamma", Scale{Mant: 1, Exp: 30}, n)
		count := len(draws) / n
		var norm, square, inverse, first, firstSquare, product float64
		for i := 0; i < len(draws); i += n {
			sum := 0.0
			for _, v := range draws[i : i+n] {
				sum += float64(v) * float64(v)
			}
			r := math.Sqrt(sum) / (1 << 30)
			x := float64(draws[i]) / (1 << 30) / r
			norm += r
			square += (r - float64(n)) * (r - float64(n))
			inverse += math.Exp(-r / float64(n))
			first += x
			firstSquare += x * x
			if n > 1 {
				product += x * float64(draws[i+1]) / (1 << 30) / r
			}
		}
		d, c := float64(n), float64(count)
		near(t, "norm", norm/c, d, math.Sqrt(d), count)
		// Central moments of Gamma(n): n and 3n² + 6n.
		near(t, "variance of the norm", square/c, d, math.Sqrt(2*d*d+6*d), count)
		// The Laplace transform at 1/n, which gives weight to small norms: (1+1/n)^−n.
		lt := math.Pow(1+1/d, -d)
		near(t, "transform of the norm", inverse/c, lt, math.Sqrt(math.Pow(1+2/d, -d)-lt*lt), count)
		near(t, "direction", first/c, 0, math.Sqrt(1/d), count)
		if n > 1 { // expected moments: E u² = 1/n, E u⁴ = 3/(n(n+2)), E u²w² = 1/(n(n+2))
			near(t, "direction squared", firstSquare/c, 1/d, math.Sqrt(3/(d*(d+2))-1/(d*d)), count)
			near(t, "product of directions", product/c, 0, math.Sqrt(1/(d*(d+2))), count)
		}
	}
}
