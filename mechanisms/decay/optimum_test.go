package decay

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"oriel/mechanisms/rational"
)

// TestOptimum computes ((2/π)K(γ))² by the series of K, and by the integral of 1/|1 − γe^{iθ}|.
func TestOptimum(t *testing.T) {
	for _, memory := range []uint64{2, 3, 16, 64, 1000, 1024, 16384} {
		gamma := float64(Decay(memory)) / unit
		series, term := 0.0, 1.0
		for j := range 60 * memory {
			series += term * term
			term *= gamma * float64(2*j+1) / float64(2*j+2)
		}
		integral, points := 0.0, 200*int(memory)
		for i := range points { // the midpoint rule over a circle converges like γ^points
			theta := 2 * math.Pi * (float64(i) + 0.5) / float64(points)
			integral += 1 / math.Hypot(1-gamma*math.Cos(theta), gamma*math.Sin(theta)) / float64(points)
		}
		got := math.Sqrt(Optimum(memory))
		if math.Abs(got-series) > 1e-10*series || math.Abs(got-integral) > 1e-10*integral {
			t.Errorf("H=%d: %.12g, by its series %.12g, by its integral %.12g", memory, got, series, integral)
		}
	}
}

// decayed returns A_T, the matrix of decayed sums.
func decayed(memory uint64, steps int) *mat.Dense {
	gamma, a := float64(Decay(memory))/unit, mat.NewDense(steps, steps, nil)
	for t := range steps {
		x := 1.0
		for s := t; s >= 0; s-- {
			a.Set(t, s, x)
			x *= gamma
		}
	}
	return a
}

// nuclear returns the nuclear norm ‖A‖_*.
func nuclear(t *testing.T, a mat.Matrix) (sum float64) {
	t.Helper()
	var svd mat.SVD
	if !svd.Factorize(a, mat.SVDNone) {
		t.Fatal("no singular values")
	}
	for _, x := range svd.Values(nil) {
		sum += x
	}
	return sum
}

// TestNuclearNormIsWithinItsBounds checks PROOF.md, Theorem 2: ‖A_T‖_*/T lies between its bounds at every T, and rises
// towards the limit.
func TestNuclearNormIsWithinItsBounds(t *testing.T) {
	for _, memory := range []uint64{2, 5, 16} {
		limit, before := math.Sqrt(Optimum(memory)), 0.0
		gamma := float64(Decay(memory)) / unit
		for _, steps := range []int{1, 2, 5, 20, 50, 200} {
			got := nuclear(t, decayed(memory, steps)) / float64(steps)
			low := limit - gamma/((1-gamma)*(1-gamma)*float64(steps))
			if got > limit*(1+1e-12) || got < low || got <= before {
				t.Errorf("H=%d T=%d: %g, not in [%g, %g] and above %g", memory, steps, got, low, limit, before)
			}
			before = got
			t.Logf("H=%d T=%d: (‖A_T‖_*/T)² = %.4f of %.4f", memory, steps, got*got, limit*limit)
		}
	}
}

// TestNothingBeatsTheOptimum tries factorisations A = BD: random ones, filters, and the fitted filter. None may have
// mean variance times worst squared sensitivity below (‖A‖_*/T)², and the fitted filter must be within its certificate
// of the limit.
func TestNothingBeatsTheOptimum(t *testing.T) {
	const memory, steps = 16, 120
	rng := rand.New(rand.NewPCG(5, 6))
	a := decayed(memory, steps)
	bound := math.Pow(nuclear(t, a)/steps, 2)
	cost := func(b *mat.Dense) float64 {
		var d mat.Dense
		if err := d.Solve(b, a); err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i := range steps {
			worst = max(worst, math.Pow(mat.Norm(d.ColView(i), 2), 2))
		}
		return math.Pow(mat.Norm(b, 2), 2) / steps * worst
	}
	toeplitz := func(b func(t, j int) float64) *mat.Dense {
		m := mat.NewDense(steps, steps, nil)
		for t := range steps {
			for j := range t + 1 {
				m.Set(t, j, b(t, j))
			}
		}
		return m
	}
	root, gamma := []float64{1}, float64(Decay(memory))/unit
	for j := 1; j < steps; j++ {
		root = append(root, root[j-1]*gamma*float64(2*j-1)/float64(2*j))
	}
	f := func(name string, b func(t, j int) float64) float64 {
		t.Helper()
		got := cost(toeplitz(b))
		if got < bound {
			t.Errorf("%s: costs %g, below %g", name, got, bound)
		}
		return got
	}
	filter := fitFilter(t, memory)
	_, _, shipped := floats(filter, steps)
	f("square root", func(t, j int) float64 { return root[t-j] })
	if got := f("the shipped filter",
		func(t, j int) float64 { return shipped[t-j] }); got > Optimum(memory)*filter.Ratio() {
		t.Errorf("the shipped filter costs %g, more than %g of %g", got, filter.Ratio(), Optimum(memory))
	}
	f("independent noise of releases", func(t, j int) float64 { return float64(max(0, 1-(t-j))) })
	f("independent noise of leaves", func(t, j int) float64 { return math.Pow(gamma, float64(t-j)) })
	for _, size := range []float64{1e-3, 1e-2, 0.1, 0.5} {
		f("perturbed", func(t, j int) float64 { return root[t-j] * math.Exp(size*rng.NormFloat64()) })
		f("unequal", func(t, j int) float64 { return root[t-j] * (1 + size*math.Sin(float64(t))*0.9) })
	}
}

// TestCertificates checks the certificates that PROOF.md prints: Σb²·Σc² of the filter that Fit chooses, divided by the
// optimum, in directed rounding.
func TestCertificates(t *testing.T) {
	for _, row := range []struct {
		memory  uint64
		optimum float64
		poles   uint8
		within  float64
	}{
		{2, 1.1517, 1, 1.0001},
		{8, 1.9357, 1, 1.0058},
		{64, 3.9954, 2, 1.0030},
		{100, 4.5662, 2, 1.0050},
		{256, 5.9103, 3, 1.0010},
		{1000, 8.1909, 3, 1.0037},
		{1024, 8.2340, 3, 1.0038},
		{4096, 10.9554, 4, 1.0016},
		{16384, 14.0693, 4, 1.0043},
		{50_000, 16.8591, 4, 1.0083},
		{1 << 16, 17.5737, 4, 1.0095},
		{1 << 18, 21.4679, 5, 1.0047},
		{1 << 20, 25.7517, 5, 1.0090},
	} {
		f := fitFilter(t, row.memory)
		got, best := f.Ratio(), Optimum(row.memory)
		if f.Count != row.poles || got > row.within || got < row.within-0.00011 || got < 1 || best < row.optimum ||
			best > row.optimum+1e-4 {
			t.Errorf("H=%d: %d poles, %.5f of %.5f, want %d, %.4f of %.4f", row.memory, f.Count, got, best, row.poles,
				row.within, row.optimum)
		}
	}
}

// TestPolesBringTheOptimumNearer checks that fits with more poles come nearer to the optimum, like a table of
// floating-point fits by other software.
func TestPolesBringTheOptimumNearer(t *testing.T) {
	for memory, want := range map[uint64][]float64{
		64:      {0, 1.0029, 1.0001},
		1024:    {0, 1.0342, 1.0038, 1.0004},
		16384:   {0, 1.1312, 1.0231, 1.0043, 1.0008},
		1 << 16: {0, 1.2132, 1.0433, 1.0095, 1.0021, 1.0005},
		1 << 20: {0, 1.4615, 1.1122, 1.0310, 1.0089, 1.0026},
	} {
		for i, ratio := range want {
			if ratio == 0 {
				continue
			}
			f, ok := fitted(memory, i+1)
			if !ok {
				t.Errorf("H=%d: no filter of %d poles", memory, i+1)
				continue
			}
			if got := f.Ratio(); math.Abs(got-ratio) > 7e-5 {
				t.Errorf("H=%d m=%d: %.5f, want %.4f", memory, i+1, got, ratio)
			}
		}
	}
}

// TestOneReleaseHasSeveralMemories computes how well the filter of one memory serves other memories: the variance of
// their sums divided by the optimum of each, at the same guarantee.
func TestOneReleaseHasSeveralMemories(t *testing.T) {
	f := fitFilter(t, 1<<16)
	shift, _ := must(t, f).c.Energy(all).Hi.Float64()
	for memory, want := range map[uint64]float64{1000: 1.367, 4096: 1.193, 16384: 1.071, 1 << 16: 1.0095, 1 << 18: 1.178} {
		b := noiseOf(f, rational.Dyadic(int64(Decay(memory)), -rational.Bits))
		noise, _ := b.Energy(all).Hi.Float64()
		got := noise * shift / Optimum(memory)
		t.Logf("H=%d: %.4f", memory, got)
		if math.Abs(got-want) > 0.001 {
			t.Errorf("H=%d: %.4f of the optimum, want %g", memory, got, want)
		}
	}
}

// TestFitOfAwkwardMemories checks that every memory has a filter, also one that is not a power of two.
func TestFitOfAwkwardMemories(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 9))
	memories := []uint64{MinMemory, 3, 5, 7, 11, 63, 65, 1023, 4097, 99_999, 524_287, 999_983, MaxMemory - 1, MaxMemory}
	for range 12 {
		memories = append(memories, uint64(math.Exp2(1+19*rng.Float64())))
	}
	for _, memory := range memories {
		f, err := Fit(memory)
		if err != nil {
			t.Error(err)
			continue
		}
		if f.Memory != memory || f.Ratio() > enough {
			t.Errorf("H=%d: %v within %g", memory, f, f.Ratio())
		}
	}
	for _, memory := range []uint64{0, 1, MaxMemory + 1, 1 << 62} {
		if f, err := Fit(memory); err == nil {
			t.Errorf("H=%d: %v", memory, f)
		}
	}
}

func BenchmarkFit(b *testing.B) {
	for _, memory := range []uint64{64, 1 << 16, MaxMemory} {
		b.Run(fmt.Sprintf("H=%d", memory), func(b *testing.B) {
			for b.Loop() {
				if _, err := Fit(memory); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
