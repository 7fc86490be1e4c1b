package linucb

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"oriel/operators/moments"
)

// chiSquared draws χ² with f ≥ 2 degrees of freedom exactly: twice a Gamma variable of shape f/2 (Marsaglia and Tsang,
// "A simple method for generating gamma variables", ACM Transactions on Mathematical Software 26, 2000).
func chiSquared(rng *rand.Rand, f float64) float64 {
	d := f/2 - 1.0/3
	for {
		x := rng.NormFloat64()
		v := math.Pow(1+x/math.Sqrt(9*d), 3)
		if v > 0 && math.Log(1-rng.Float64()) < x*x/2+d-d*v+d*math.Log(v) {
			return 2 * d * v
		}
	}
}

// wishartOf draws a Wishart matrix with scale square·I and k degrees of freedom by Bartlett's decomposition. The matrix
// is square·AAᵀ, where A is lower triangular, with normal entries below the diagonal and roots of χ² of k − i degrees
// of freedom on it.
func wishartOf(rng *rand.Rand, size int, square, k float64) *mat.SymDense {
	a := mat.NewDense(size, size, nil)
	for i := range size {
		for j := range i {
			a.Set(i, j, rng.NormFloat64())
		}
		a.Set(i, i, math.Sqrt(chiSquared(rng, k-float64(i))))
	}
	out := mat.NewSymDense(size, nil)
	out.SymOuterK(square, a)
	return out
}

// limitOf draws the Gaussian limit of (W − k·I)/√k at scale 1: a symmetric matrix with standard deviation 1 off the
// diagonal and √2 on it.
func limitOf(rng *rand.Rand, size int) *mat.SymDense {
	out := mat.NewSymDense(size, nil)
	for i := range size {
		out.SetSym(i, i, math.Sqrt2*rng.NormFloat64())
		for j := range i {
			out.SetSym(i, j, rng.NormFloat64())
		}
	}
	return out
}

func largest(t *testing.T, m *mat.SymDense) float64 {
	t.Helper()
	var eigen mat.EigenSym
	if !eigen.Factorize(m, false) {
		t.Fatal("no eigenvalues")
	}
	return slices.Max(eigen.Values(nil))
}

// TestWishartIsExact checks that Bartlett's decomposition has the law of Σ vvᵀ of k normal vectors. For p = 3 and k = 7
// the mean, the variances, and the mean determinant k(k−1)(k−2) agree within five standard errors.
func TestWishartIsExact(t *testing.T) {
	const draws, k, square = 20000, 7, 2.0
	rng := rand.New(rand.NewPCG(7, 3))
	type statistic struct {
		name      string
		want      float64
		of        func(w *mat.SymDense) float64
		sum, both float64
	}
	all := []*statistic{
		{name: "first of the diagonal", want: k, of: func(w *mat.SymDense) float64 { return w.At(0, 0) }},
		{name: "last of the diagonal", want: k, of: func(w *mat.SymDense) float64 { return w.At(2, 2) }},
		{name: "square on the diagonal", want: 2 * k, of: func(w *mat.SymDense) float64 {
			return (w.At(1, 1) - k) * (w.At(1, 1) - k)
		}},
		{name: "square off the diagonal", want: k, of: func(w *mat.SymDense) float64 { return w.At(2, 1) * w.At(2, 1) }},
		{name: "product on the diagonal", want: k * k, of: func(w *mat.SymDense) float64 { return w.At(0, 0) * w.At(2, 2) }},
		{name: "determinant", want: k * (k - 1) * (k - 2), of: func(w *mat.SymDense) float64 { return mat.Det(w) }},
	}
	for range draws {
		w := wishartOf(rng, 3, square, k)
		w.ScaleSym(1/square, w)
		for _, s := range all {
			x := s.of(w)
			s.sum += x
			s.both += x * x
		}
	}
	for _, s := range all {
		mean := s.sum / draws
		by := 5 * math.Sqrt((s.both/draws-mean*mean)/draws)
		if math.Abs(mean-s.want) > by {
			t.Errorf("%s: %g ± %g, want %g", s.name, mean, by, s.want)
		}
	}
}

// TestWishartNoiseIsNearlyGaussian checks the Gaussian limit that replaces Wishart noise in runs on flights. With the
// source paper's degrees of freedom, a Kolmogorov-Smirnov test at 0.1 % finds no difference between the laws of the
// largest eigenvalues. With 20 degrees of freedom it must find one.
func TestWishartNoiseIsNearlyGaussian(t *testing.T) {
	const draws, size = 1500, 6
	rng := rand.New(rand.NewPCG(8, 3))
	distance := func(k float64) float64 {
		var exact, limit []float64
		for range draws {
			w := wishartOf(rng, size, 1, k)
			for i := range size {
				w.SetSym(i, i, w.At(i, i)-k)
			}
			exact = append(exact, largest(t, w)/math.Sqrt(k))
			limit = append(limit, largest(t, limitOf(rng, size)))
		}
		slices.Sort(exact)
		slices.Sort(limit)
		most := 0.0
		for i, x := range exact {
			below, _ := slices.BinarySearch(limit, x)
			most = max(most, math.Abs(float64(below-i))/draws)
		}
		return most
	}
	const same = 1.95 // critical value, in units of √(2/draws)
	if x := distance(thousand.freedom()); x > same*math.Sqrt(2.0/draws) {
		t.Errorf("the source's degrees of freedom: laws are %g apart", x)
	}
	if x := distance(20); x < same*math.Sqrt(2.0/draws) {
		t.Errorf("20 degrees of freedom: laws are %g apart, and should differ", x)
	}
}

// TestAnyRegularisersAreCovered checks that Proposition 4 holds for any regularisers H_t and h_t within their bounds.
// If they differ in each round, random or worst-case, weights must be within β_t in at least nine tenths of runs. In
// the worst case β_t is nearly tight, because the bias alone is S√ρ_max + γ.
func TestAnyRegularisersAreCovered(t *testing.T) {
	const runs, steps, d, alpha = 100, 150, 3, 0.1
	b := bounds{least: 2, most: 6, side: 5, level: 2 * math.Log(2/alpha), size: 1, features: d}
	rng := rand.New(rand.NewPCG(3, 9))
	unit := func() *mat.VecDense {
		v := mat.NewVecDense(d, []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()})
		v.ScaleVec(1/mat.Norm(v, 2), v)
		return v
	}
	rows, tight := moments.Rows{Features: d, Label: moments.MaxLabel}, math.Inf(1)
	release, a := make([]float64, rows.Size()), arm{system: moments.NewSystem(d), known: true}
	misses := 0
	for run := range runs {
		truth, gram, cross := unit(), mat.NewSymDense(d, nil), mat.NewVecDense(d, nil)
		covered := true
		for range steps {
			// In the worst case H = ρ_min·I + (ρ_max − ρ_min)·vvᵀ, and h has length γ in the norm of H⁻¹ and is opposed
			// to Hθ.
			h, v, noised := mat.NewSymDense(d, nil), unit(), mat.NewVecDense(d, nil)
			if run%2 == 0 {
				v.CloneFromVec(truth)
			}
			for i := range d {
				h.SetSym(i, i, b.least)
			}
			h.SymRankOne(h, b.most-b.least, v)
			noised.ScaleVec(-b.side*math.Sqrt(b.most), v)
			var whole mat.SymDense
			whole.AddSym(gram, h)
			for i, at := 0, 0; i <= d; i++ {
				for j := i; j <= d; j++ {
					release[at] = 0
					if j < d {
						release[at] = whole.At(i, j)
					}
					at++
				}
			}
			a.system.Factor(rows.Moments(release, 0).Symmetric, 1, 0, 0)
			noised.AddVec(noised, cross)
			var theta, off mat.VecDense
			if err := theta.SolveVec(&whole, noised); err != nil {
				t.Fatal(err)
			}
			off.SubVec(&theta, truth)
			slack := b.width(&a) - math.Sqrt(mat.Inner(&off, &whole, &off))
			covered, tight = covered && slack >= 0, min(tight, slack)
			x, reward := unit(), -1.0
			if rng.Float64() < (1+mat.Dot(x, truth))/2 {
				reward = 1
			}
			gram.SymRankOne(gram, 1, x)
			cross.AddScaledVec(cross, reward, x)
		}
		if !covered {
			misses++
		}
	}
	t.Logf("%d of %d runs are not covered, least slack %.3g", misses, runs, tight)
	if misses > runs/10 || tight > b.side {
		t.Errorf("%d of %d runs are not covered, least slack %g", misses, runs, tight)
	}
}
