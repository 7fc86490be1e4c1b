package windowtree

import (
	"encoding/binary"
	"fmt"
	"math"
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// releases returns keys × n samples of the noise of T releases: samples[t] holds one entry for each key and coordinate.
func releases(t *testing.T, window uint64, steps, keys, n int, sampler noise.Sampler) [][]float64 {
	t.Helper()
	samples := make([][]float64, steps)
	dst, contribution := make([]float64, n), make([]int64, n)
	for key := range keys {
		var seed [32]byte
		binary.LittleEndian.PutUint64(seed[:], uint64(key))
		tree, chain := newTree(t, window, n, sampler), noise.NewChain(seed)
		for now := range samples {
			sumtest.Step(tree, chain, dst, contribution...)
			samples[now] = append(samples[now], dst...)
		}
	}
	return samples
}

// covarianceError returns the largest deviation, in standard errors, of the covariance matrix of the samples from
// variance·|active(s) ∩ active(t)|, and the entry where it occurs. The mean is known to be zero. kurtosis is the
// kurtosis of a node's noise, which the variance of a product depends on: Var(xy) = c_ss·c_tt + c_st² + (kurtosis −
// 3)·variance²·|active(s) ∩ active(t)|.
func covarianceError(
	t *testing.T, window uint64, samples [][]float64, variance, kurtosis float64,
) (worst float64, where string) {
	t.Helper()
	tree := newTree(t, window, 1, silence{})
	shared := func(s, u int) float64 {
		count := 0.0
		suffix, prefix := tree.active(uint64(s + 1))
		otherSuffix, otherPrefix := tree.active(uint64(u + 1))
		for _, x := range append(suffix, prefix...) {
			for _, y := range append(otherSuffix, otherPrefix...) {
				if x == y {
					count++
				}
			}
		}
		return count
	}
	for s := range samples {
		for u := range s + 1 {
			sum := 0.0
			for i := range samples[s] {
				sum += samples[s][i] * samples[u][i]
			}
			count := float64(len(samples[s]))
			common := shared(s, u)
			product := variance * variance * (shared(s, s)*shared(u, u) + common*common + (kurtosis-3)*common)
			if z := math.Abs(sum/count-variance*common) / math.Sqrt(product/count); z > worst {
				worst, where = z, fmt.Sprintf("steps %d and %d", s+1, u+1)
			}
		}
	}
	return worst, where
}

// limit is the two-sided normal quantile at 1e-9/400, because a matrix has up to 400 entries. Keys are fixed, so a
// failure is reproducible.
const limit = 7.02

// TestCovarianceIsThatOfSharedNodes checks [WDP] §3: releases of different steps share the noise of the nodes active in
// both, and no other noise. An entry has 51 200 samples, and a matrix is falsely rejected with probability 1e-9. At s =
// 2²⁰ rounding adds a relative 2⁻⁴⁴ to a variance.
func TestCovarianceIsThatOfSharedNodes(t *testing.T) {
	const s = 1 << 20
	for _, window := range []uint64{1, 2, 4, 8} {
		steps := int(2*window + 3)
		samples := releases(t, window, steps, 200, 256, sumtest.Gaussian(t, s))
		if z, where := covarianceError(t, window, samples, s*s, 3); z > limit {
			t.Errorf("W=%d: covariance of %s is %.1f standard errors off", window, where, z)
		}
	}
}

// TestCovarianceOfLaplaceNoise is TestCovarianceIsThatOfSharedNodes for Laplace noise, which at scale s has variance
// 2s² and kurtosis 6.
func TestCovarianceOfLaplaceNoise(t *testing.T) {
	const s = 1 << 20
	laplace, err := noise.NewLaplace(noise.ScaleUp(s))
	if err != nil {
		t.Fatal(err)
	}
	samples := releases(t, 4, 11, 200, 256, laplace)
	if z, where := covarianceError(t, 4, samples, 2*s*s, 6); z > limit {
		t.Errorf("covariance of %s is %.1f standard errors off", where, z)
	}
}

// TestNormOfGammaNoise checks that a Gamma node has E‖x‖² = θ²n(n+1), and a release with j nodes j times as much ([WDP]
// §4.1). Each of 4 000 keys gives one norm a step. With ‖ν‖² = θ²χ²_{j(n+1)}χ²_n, the variance of ‖ν‖²/θ² is
// ab((a+2)(b+2) − ab) for a = j(n+1), b = n.
func TestNormOfGammaNoise(t *testing.T) {
	const theta, n, window, keys = 1 << 20, 5, 4, 4000
	gamma, err := noise.NewGamma(noise.ScaleUp(theta), n)
	if err != nil {
		t.Fatal(err)
	}
	samples := releases(t, window, 11, keys, n, gamma)
	tree := newTree(t, window, 1, silence{})
	for now, sample := range samples {
		sum := 0.0
		for _, x := range sample {
			sum += x / theta * x / theta
		}
		suffix, prefix := tree.active(uint64(now + 1))
		a, b := float64((len(suffix)+len(prefix))*(n+1)), float64(n)
		if z := (sum/keys - a*b) / math.Sqrt(a*b*((a+2)*(b+2)-a*b)/keys); math.Abs(z) > limit {
			t.Errorf("step %d: mean squared norm %g, want %g, %.1f standard errors off", now+1, sum/keys, a*b, z)
		}
	}
}

// faulty plants a fault in the seeds of node noise.
type faulty struct {
	noise.Sampler
	bend func(seed noise.Seed) noise.Seed
}

func (f faulty) Fill(dst []int64, seed noise.Seed) { f.Sampler.Fill(dst, f.bend(seed)) }

// TestCovarianceTestCatchesPlantedFaults checks that covarianceError rejects node noise that is reused within a run,
// drawn at half scale, or missing.
func TestCovarianceTestCatchesPlantedFaults(t *testing.T) {
	const s = 1 << 20
	draws := 0
	var last noise.Seed
	reuse := faulty{sumtest.Gaussian(t, s), func(seed noise.Seed) noise.Seed {
		if draws++; draws%16 == 5 { // a run has 11 draws of prefixes and 5 of suffixes
			return last
		}
		last = seed
		return seed
	}}
	faults := map[string]noise.Sampler{"reused": reuse, "half scale": sumtest.Gaussian(t, s/2), "missing": silence{}}
	for name, sampler := range faults {
		samples := releases(t, 4, 11, 200, 256, sampler)
		if z, _ := covarianceError(t, 4, samples, s*s, 3); z < limit {
			t.Errorf("%s: not caught, worst entry %.1f standard errors off", name, z)
		}
	}
}
