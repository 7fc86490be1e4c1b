package blt

import (
	"math"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
)

// measurement is a run of a sum without data, after its start-up.
type measurement struct {
	steps, width int     // number of releases, and number of independent coordinates of each
	settled      float64 // variance of the first release over Σb², between 1 − 2⁻¹⁰ and 1
	mean         float64 // mean square of a coordinate, in units of s²
}

// measure runs the real carry, chain and sampler, and divides the releases by the scale s.
func measure(t *testing.T, f Filter, s float64, sampler noise.Sampler, steps, width int) measurement {
	t.Helper()
	c := newCarry(t, f, s, width, sampler)
	chain, dst, contribution := noise.NewChain([32]byte{1, 6}), make([]float64, width), make([]lattice.Int128, width)
	whole, start := noiseFrom(f, 0), uint64(1)
	for noiseFrom(f, start) > 0x1p-10*whole {
		start += start/8 + 1
	}
	sum := 0.0
	for c.Steps() < start+uint64(steps) {
		chain.Close(c.Steps() + 1)
		c.Add(dst, contribution, chain)
		if c.Steps() > start {
			for _, y := range dst {
				sum += y * y
			}
		}
	}
	return measurement{steps, width, 1 - noiseFrom(f, start)/whole, sum / (s * s * float64(steps*width))}
}

// noiseFrom returns Σ_{j≥from} b_j², from closed sums.
func noiseFrom(f Filter, from uint64) (sum float64) {
	if from == 0 {
		return 1 + noiseFrom(f, 1)
	}
	for k, x := range overlaps(f) {
		for l := range f.Count {
			sum += x[l] * math.Pow(float64(f.Poles[k])/unit*float64(f.Poles[l])/unit, float64(from-1))
		}
	}
	return sum
}

// overlaps returns R_kR_l/(1 − q_kq_l) = Σ_{j≥1} R_kq_k^{j−1}·R_lq_l^{j−1}.
func overlaps(f Filter) (x [MaxPoles][MaxPoles]float64) {
	for k := range f.Count {
		for l := range f.Count {
			x[k][l] = float64(f.Residues[k]) / unit * float64(f.Residues[l]) / unit /
				(1 - float64(f.Poles[k])/unit*float64(f.Poles[l])/unit)
		}
	}
	return x
}

// autocovariance returns γ_τ = Σ_{j≥0} b_j·b_{j+τ} for τ < terms.
func autocovariance(f Filter, terms int) []float64 {
	gamma := impulse(f, terms) // response to b_0
	for k, x := range overlaps(f) {
		sum, q, power := 0.0, float64(f.Poles[k])/unit, 1.0
		for _, y := range x {
			sum += y
		}
		for lag := range gamma {
			gamma[lag] += sum * power
			power *= q
		}
	}
	return gamma
}

// margins returns how far the mean square of stationary releases is from Σb² on either side with probability at most
// 1e-9. It is ΣλZ², Z normal, with 2Σλ² = v its variance by the exact autocovariance γ, and λ ≤ L = (Σ|b|)²/(steps·n).
// So for x = ln(2·10⁹) it exceeds its mean by √(2vx) + 2Lx, or falls below it by √(2vx), with probability at most e^−x
// each (Laurent and Massart 2000, Lemma 1). Early releases lack an independent noise term, so their λ are smaller.
func (m measurement) margins(f Filter) (below, above float64) {
	steps, terms := float64(m.steps), float64(m.steps*m.width)
	v, sum := 0.0, 0.0
	for _, x := range impulse(f, m.steps) {
		sum += math.Abs(x)
	}
	for lag, gamma := range autocovariance(f, m.steps) {
		v += 2 * (steps - float64(lag)) * gamma * gamma
		if lag == 0 {
			v /= 2
		}
	}
	v *= 2 / (steps * terms)
	x := math.Log(2e9)
	below = math.Sqrt(2 * v * x)
	return below, below + 2*sum*sum/terms*x
}

// isOf reports whether the measured variance agrees with f.
func (m measurement) isOf(f Filter) bool {
	want := noiseFrom(f, 0)
	below, above := m.margins(f)
	return m.mean >= want*m.settled-below && m.mean <= want+above
}

// TestMeasuredVarianceIsTheFormula checks that the variance of a release is s²Σb², as claimed, with the real carry,
// chain and sampler. With s = 2²⁰ rounding adds a relative 2⁻²⁰. TestVarianceIsThatOfTheTable of package mechanisms
// covers a long window in each tier.
func TestMeasuredVarianceIsTheFormula(t *testing.T) {
	const s = 1 << 20
	sampler := sumtest.Gaussian(t, s)
	type measured struct {
		window       uint64
		weight       float64
		steps, width int
	}
	for _, c := range tiertest.Runs(
		[]measured{{64, 0, 1 << 15, 64}, {1024, 0.3, 1 << 16, 128}},
		[]measured{{64, 0, 1 << 17, 32}, {64, 0.3, 1 << 17, 32}, {1024, 0.3, 1 << 17, 96}, {16384, 0, 1 << 17, 256}},
	) {
		f := fitFilter(t, c.window, c.weight, 4)
		r, err := NewResponse(f)
		if err != nil {
			t.Fatal(err)
		}
		m, want := measure(t, f, s, sampler, c.steps, c.width), r.Noise()
		below, above := m.margins(f)
		t.Logf("W=%d w=%g: %d releases of %d coordinates: variance %.5f s², formula %.5f, tolerance −%.4f +%.4f", c.window, c.weight, m.steps, m.width, m.mean, want, below, above)
		if math.Abs(want-noiseFrom(f, 0)) > 1e-9*want {
			t.Errorf("W=%d: Noise() = %g, Σb² = %g", c.window, want, noiseFrom(f, 0))
		}
		if above > tiertest.Runs(0.08, 0.065)*want {
			t.Errorf("W=%d: tolerance %g of %g: the test tests little", c.window, above, want)
		}
		if !m.isOf(f) {
			t.Errorf("W=%d: variance %g s², want %g", c.window, m.mean, want)
		}
	}
	f := handmade(t)
	fault := func(name string, run Filter, sampler noise.Sampler) {
		t.Helper()
		run.Shift, _ = run.shift()
		if m := measure(t, run, s, sampler, 1<<13, 128); m.isOf(f) {
			t.Errorf("%s: not caught: variance %g s², want %g", name, m.mean, noiseFrom(f, 0))
		}
	}
	fault("half scale", f, sumtest.Gaussian(t, s/2))
	bare, light := f, f
	bare.Residues = [MaxPoles]int32{1, 1, 1}
	light.Residues[0] = 1
	fault("carry left out", bare, sampler)
	fault("a buffer left out", light, sampler)
	if m := measure(t, f, s, sampler, 1<<13, 128); !m.isOf(f) {
		t.Errorf("no fault: variance %g s², want %g", m.mean, noiseFrom(f, 0))
	}
}
