package blt

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// central returns r_j = C(2j, j)/4^j exactly.
func central(terms int) []*big.Rat {
	r := []*big.Rat{big.NewRat(1, 1)}
	for j := int64(1); j < int64(terms); j++ {
		r = append(r, new(big.Rat).Mul(r[j-1], big.NewRat(2*j-1, 2*j)))
	}
	return r
}

// hankel solves Hr = r for the weights λ with H_{kl} = λ_{k+l}, starting from the last row.
func hankel(r []*big.Rat) []*big.Rat {
	w := len(r)
	lambda := make([]*big.Rat, w)
	for k := w - 1; k >= 0; k-- {
		x := new(big.Rat).Set(r[k])
		for l := 1; k+l < w; l++ {
			x.Sub(x, new(big.Rat).Mul(lambda[k+l], r[l]))
		}
		lambda[k] = x
	}
	return lambda
}

// TestOptimumHasACertificate checks PROOF.md, Theorem 2: the weights are positive and sum to S_W, in exact arithmetic.
func TestOptimumHasACertificate(t *testing.T) {
	for _, window := range []int{1, 2, 3, 17, 64} {
		r := central(window)
		lambda := hankel(r)
		sum, optimum := new(big.Rat), new(big.Rat)
		for j := range window {
			if lambda[j].Sign() <= 0 {
				t.Errorf("W=%d: weight %d is %s", window, j, lambda[j].FloatString(6))
			}
			sum.Add(sum, lambda[j])
			optimum.Add(optimum, new(big.Rat).Mul(r[j], r[j]))
		}
		if sum.Cmp(optimum) != 0 {
			t.Errorf("W=%d: weights sum to %s, want S_W = %s", window, sum.FloatString(9), optimum.FloatString(9))
		}
		square, _ := optimum.Mul(optimum, optimum).Float64()
		if got := Optimum(uint64(window)); got > square || got < square*(1-1e-15) {
			t.Errorf("Optimum(%d) = %.17g, want %.17g", window, got, square)
		}
	}
}

// cost returns the time-averaged variance times the worst µ(W)², in units of Δ², for the mechanism with noise Bz.
func cost(b [][]float64, window int) float64 {
	steps := len(b)
	variance, worst := 0.0, 0.0
	for t := range b {
		for j := range t + 1 {
			variance += b[t][j] * b[t][j] / float64(steps)
		}
	}
	for i := range steps {
		column, sum := make([]float64, steps), 0.0 // column i of D = B⁻¹A
		for t := i; t < min(steps, i+window); t++ {
			x := 1.0
			for j := i; j < t; j++ {
				x -= b[t][j] * column[j]
			}
			column[t] = x / b[t][t]
			sum += column[t] * column[t]
		}
		worst = max(worst, sum)
	}
	return variance * worst
}

// TestNoMechanismBeatsTheOptimum tries mechanisms against the bound of PROOF.md, Theorem 2: random perturbations of the
// optimum, restarts and independent noise. The finite square-root filter must attain the bound in the limit.
func TestNoMechanismBeatsTheOptimum(t *testing.T) {
	const window, steps = 8, 400
	bound := Optimum(window) * (1 - (window-1.0)/steps) * (1 - (window-1.0)/steps)
	rng := rand.New(rand.NewPCG(7, 8))
	toeplitz := func(b func(t, j int) float64) [][]float64 {
		rows := make([][]float64, steps)
		for t := range rows {
			rows[t] = make([]float64, steps)
			for j := range t + 1 {
				rows[t][j] = b(t, j)
			}
		}
		return rows
	}
	r := make([]float64, window)
	for j, x := range central(window) {
		r[j], _ = x.Float64()
	}
	root := func(t, j int) float64 {
		if t-j < window {
			return r[t-j]
		}
		return 0
	}
	if got := cost(toeplitz(root), window); got < bound || got > Optimum(window)*(1+1e-12) {
		t.Errorf("square-root filter costs %g, want at most S_W² = %g", got, Optimum(window))
	}
	f := func(name string, b func(t, j int) float64) {
		t.Helper()
		if got := cost(toeplitz(b), window); got < bound {
			t.Errorf("%s: costs %g, below %g", name, got, bound)
		}
	}
	f("independent noise", func(t, j int) float64 { return float64(max(0, 1-(t-j))) })
	f("restarts", func(t, j int) float64 { return root(t%window, j-t+t%window) * float64(max(0, min(1, 1+j-t+t%window))) })
	for _, size := range []float64{1e-3, 1e-2, 0.1, 0.5} {
		f("perturbed", func(t, j int) float64 { return root(t, j) * math.Exp(size*rng.NormFloat64()) })
		f("diagonal", func(t, j int) float64 { return root(t, j) * (1 + size*math.Sin(float64(t))*0.9) })
	}
}

// TestOptimum compares S_W with its definition in integers, and the bound for large windows with the sum at small ones.
func TestOptimum(t *testing.T) {
	f := func(window uint64, want float64) {
		t.Helper()
		if got := Optimum(window); got > want*(1+1e-15) || got < want*(1-1e-8) {
			t.Errorf("Optimum(%d) = %.12g, want %.12g", window, got, want)
		}
	}
	f(1, 1)
	f(2, 1.25*1.25)
	f(3, (1.25+9.0/64)*(1.25+9.0/64))
	sum, term := 0.0, 1.0
	for j := range uint64(1 << 20) {
		sum += term * term
		term *= float64(2*j+1) / float64(2*j+2)
		if w := j + 1; w == directTerms || w == directTerms+1 || w == 1<<20 {
			if got := Optimum(w); got > sum*sum*(1+1e-11) || got < sum*sum*(1-1e-9) {
				t.Errorf("Optimum(%d) = %.12g, want %.12g", w, got, sum*sum)
			}
		}
	}
}
