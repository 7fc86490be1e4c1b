package residual

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestBinomialTailIsAbove checks that the bound is above the exact tail, and no looser than Chernoff's bound is known
// to be.
func TestBinomialTailIsAbove(t *testing.T) {
	for _, c := range []struct {
		n uint64
		p float64
	}{{1, 0.5}, {10, 0.3}, {100, 0.01}, {1000, 0.5}, {400, 0.9}} {
		exact := make([]float64, c.n+1)
		p := new(big.Float).SetPrec(200).SetFloat64(c.p)
		q := new(big.Float).SetPrec(200).Sub(big.NewFloat(1).SetPrec(200), p)
		for k := range exact {
			term := new(big.Float).SetPrec(200).SetInt(new(big.Int).Binomial(int64(c.n), int64(k)))
			for range k {
				term.Mul(term, p)
			}
			for range int(c.n) - k {
				term.Mul(term, q)
			}
			exact[k], _ = term.Float64()
		}
		for k := range exact {
			low, high := 0.0, 0.0
			for j, x := range exact {
				if j <= k {
					low += x
				}
				if j >= k {
					high += x
				}
			}
			if one := AtLeast(uint64(k), c.n, c.p); one < high*(1-1e-9) || one > 1 {
				t.Errorf("%d or more of %d at %g: bound %g, exact %g", k, c.n, c.p, one, high)
			}
			bound, tail := binomialTail(uint64(k), c.n, c.p), min(1, 2*min(low, high))
			if bound < tail*(1-1e-9) || bound > 1 {
				t.Errorf("%d of %d at %g: bound %g, exact %g", k, c.n, c.p, bound, tail)
			}
			if tail > 1e-12 && tail < 1e-3 && bound > 200*tail {
				t.Errorf("%d of %d at %g: bound %g is far above %g", k, c.n, c.p, bound, tail)
			}
		}
	}
	// For very large n, rounding must not lose precision near the mean.
	n := uint64(1e10)
	if p := binomialTail(n/2+5*50_000, n, 0.5); math.Abs(math.Log(p)-math.Log(2)+12.5) > 0.01 {
		t.Errorf("five standard deviations of 10^10 coins: %g", p)
	}
	if p := binomialTail(0, n, 1e-9); math.Abs(math.Log(p/2)+10) > 1e-6 {
		t.Errorf("none of 10^10 at 10^-9: %g", p)
	}
	if p := AtLeast(2, 20, 1e-7); p > 1e-10 || AtLeast(0, 0, 0.5) != 1 || AtLeast(7, 7, 1) != 1 {
		t.Errorf("two of twenty rare ones: %g", p)
	}
	if binomialTail(0, 0, 0.5) != 1 || squaresTail(0, 0) != 1 || squaresTail(0, 3) != 0 {
		t.Error("nothing was looked at")
	}
}

// TestSquaresTailIsAbove checks that the bound is above the measured frequency for squares of normals, and that its
// logarithm is nearly exact in the far tail.
func TestSquaresTailIsAbove(t *testing.T) {
	for _, n := range []uint64{1, 2, 10, 1e6} {
		// For two degrees of freedom the upper tail is e^{−x/2}.
		if n == 2 {
			for _, x := range []float64{3, 10, 40, 100} {
				if p := squaresTail(x, 2); p < math.Exp(-x/2) || p > 2*math.E*x*math.Exp(-x/2) {
					t.Errorf("chi-square of 2 above %g: %g", x, p)
				}
			}
		}
		for _, z := range []float64{-6, -3, 3, 6} {
			x := float64(n) * (1 + z*math.Sqrt(2/float64(n)))
			if n < 1e6 || x <= 0 {
				continue
			}
			if p := squaresTail(x, n); p < normalTail(z)/5 || p > 100*normalTail(z) {
				t.Errorf("chi-square of %d, %g standard deviations off: %g", n, z, p)
			}
		}
	}
	rng := rand.New(rand.NewPCG(1, 2))
	const trials = 20_000
	for _, n := range []int{1, 5, 30} {
		small := 0
		for range trials {
			sum := 0.0
			for range n {
				z := rng.NormFloat64()
				sum += z * z
			}
			if squaresTail(sum, uint64(n)) < 0.1 {
				small++
			}
		}
		if small > trials/10 {
			t.Errorf("%d of %d sums of %d squares have a p-value below 0.1", small, trials, n)
		}
	}
}

// TestNormalsOfPureNoise checks that draws of Gamma and Laplace noise become independent normals: mean, square and
// products, within 6.11 standard errors.
func TestNormalsOfPureNoise(t *testing.T) {
	rng, u := rand.New(rand.NewPCG(3, 4)), uniforms(5)
	for _, n := range []int{1, 2, 5} {
		for name, draw := range map[string]func(x []float64){
			"gamma": func(x []float64) { // the norm sums n exponentials, the direction is a normalised normal vector
				radius, square := 0.0, 0.0
				for i := range x {
					x[i] = rng.NormFloat64()
					square += x[i] * x[i]
					radius += rng.ExpFloat64()
				}
				for i := range x {
					x[i] *= radius / math.Sqrt(square)
				}
				gammaNormals(n)(x, nil)
			},
			"laplace": func(x []float64) {
				for i := range x {
					x[i] = rng.ExpFloat64() - rng.ExpFloat64()
				}
				laplaceNormals(x, nil)
			},
			"discrete": func(x []float64) {
				for i := range x { // r = 1, and r = 1/4 of every second coordinate
					step := 1 / math.Pow(4, float64(i%2))
					x[i] = step * (math.Floor(rng.ExpFloat64()/step) - math.Floor(rng.ExpFloat64()/step))
				}
				discreteNormals([]int64{4, 1}, 4)(x, &u)
			},
		} {
			const trials = 50_000
			x := make([]float64, n)
			var sum, square, fourth, product float64
			for range trials {
				draw(x)
				for i, z := range x {
					sum += z
					square += z * z
					fourth += z * z * z * z
					product += z * z * x[(i+1)%n] * x[(i+1)%n]
				}
			}
			near := func(what string, got, want, deviation float64) {
				t.Helper()
				count := float64(trials * n)
				if z := (got/count - want) / deviation * math.Sqrt(count); math.Abs(z) > 6.11 {
					t.Errorf("%s, n = %d: %s %g, want %g: %.1f standard errors off", name, n, what, got/count, want, z)
				}
			}
			near("mean", sum, 0, 1)
			near("square", square, 1, math.Sqrt(2))
			near("fourth power", fourth, 3, math.Sqrt(96))
			if n > 2 { // each square is in two products, so the standard deviation is below √8·√2
				near("product of squares", product, 1, 4)
			}
		}
	}
}

// TestDiscreteNormalsShowTheLaw checks that normals of whole draws with r = 1 are normal in each eighth, and that they
// are not if the law is another one.
func TestDiscreteNormalsShowTheLaw(t *testing.T) {
	rng, u := rand.New(rand.NewPCG(7, 8)), uniforms(9)
	geometric := func(r float64) float64 { return math.Floor(rng.ExpFloat64() / r) }
	for _, law := range []struct {
		name string
		true bool
		draw func() float64
	}{
		{"as claimed", true, func() float64 { return geometric(1) - geometric(1) }},
		{"a scale 3 % too small", false, func() float64 { return geometric(1.03) - geometric(1.03) }},
		{"a continuous draw, rounded", false, func() float64 {
			return math.RoundToEven(rng.ExpFloat64() - rng.ExpFloat64())
		}},
		{"two zeros for one", false, func() float64 {
			x := geometric(1)
			return math.Copysign(x, rng.Float64()-0.5)
		}},
		{"no multiples", false, func() float64 { return geometric(1) - geometric(1) + 0.3 }},
	} {
		const trials = 200_000
		var counts [8]uint64
		x := make([]float64, 1)
		for range trials {
			x[0] = law.draw()
			discreteNormals([]int64{1 << 20}, 1<<20)(x, &u)
			counts[min(7, int(8*(1-normalTail(x[0])/2)))]++
		}
		least := 1.0
		for _, n := range counts[4:] { // 1 − P(|Z| ≥ |z|)/2 is uniform from ½ to 1
			least = min(least, binomialTail(n, trials, 0.25))
		}
		if law.true != (least > 1e-9) {
			t.Errorf("%s: p-value %g of %v", law.name, least, counts)
		}
	}
}

// TestFairCounts checks that differing coins are counted at any distance, also across borders of 64-bit words.
func TestFairCounts(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for _, steps := range []int{1, 63, 64, 65, 200} {
		f, plain := newSignTest(2, steps), [2][]bool{make([]bool, steps), make([]bool, steps)}
		for i := range plain {
			for t := range plain[i] {
				if rng.IntN(2) == 1 {
					plain[i][t] = true
					f.set(i, t)
				}
			}
		}
		for lag := range steps {
			want := uint64(0)
			for t := range steps - lag {
				if plain[0][t+lag] != plain[1][t] {
					want++
				}
			}
			if got := f.differ(f.of[0], f.of[1], lag); got != want {
				t.Errorf("%d steps, distance %d: %d differ, want %d", steps, lag, got, want)
			}
		}
	}
}

func TestReach(t *testing.T) {
	tails := Tails{Draws: 1e9}
	if k := tails.Reach(1e-5); k < 5 || k > 6 {
		t.Errorf("a billion draws reach %g", k)
	}
	if f := tails.Test("tails"); f.P > 1e-100 || f.Count != 1e9 {
		t.Errorf("none beyond 3.5: %+v", f)
	}
	if k := (Tails{}).Reach(0.1); k > 1e-9 {
		t.Errorf("no draws reach %g", k)
	}
}
