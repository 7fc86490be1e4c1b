package mechanisms_test

import (
	"math"
	"math/bits"
	"testing"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// released returns the mean square of a stream's releases without data, over the given number of steps after the first,
// in units (Δ/µ)², and its standard error, from n independent coordinates.
func released(t *testing.T, stream *mechtest.Counted, first, steps uint64) (mean, spread float64) {
	t.Helper()
	const delta = 2.0 // ℓ2 sensitivity under replace for clip L = 1
	n := stream.Dimension()
	squares, id := make([]float64, n), noise.Identity{}
	for id.Offset = 1; id.Offset <= int64(first+steps); id.Offset++ {
		stream.Add(id, nil)
		if stream.Step() > first {
			for i, y := range stream.Sum(0) {
				squares[i] += y * y
			}
		}
	}
	factor := stream.Guarantee().Mu / delta
	factor *= factor / float64(steps)
	for _, x := range squares {
		mean += x * factor / float64(n)
	}
	for _, x := range squares {
		spread += (x*factor - mean) * (x*factor - mean) / float64(n*(n-1))
	}
	return mean, math.Sqrt(spread)
}

// TestVarianceIsTheCertifiedOne measures the variance of a release at equal µ(W), which blt certifies, end to end:
// for the tree over complete blocks after the first one, and for blt after eight windows, when the variance is steady.
// Mean squares of coordinates are so close to normal that they exceed 6.11 standard errors with probability below 10⁻⁸.
func TestVarianceIsTheCertifiedOne(t *testing.T) {
	short := tiertest.Runs[uint64](1<<15, 1<<17)
	for _, c := range []struct {
		window, steps uint64
		n             int
	}{
		{64, short, 16},
		{1024, short, tiertest.Runs(16, 32)},
		{16384, tiertest.Runs[uint64](1<<16, 1<<17), tiertest.Runs(32, 64)},
	} {
		filter, err := blt.Fit(c.window, 0, blt.MaxPoles)
		if err != nil {
			t.Fatal(err)
		}
		response, err := blt.NewResponse(filter)
		if err != nil {
			t.Fatal(err)
		}
		h := float64(bits.Len64(c.window))
		f := func(name string, first uint64, want float64) {
			t.Helper()
			config := config(name, c.n)
			config.Scope = protection.Window{Steps: c.window}
			if name == "blt" {
				config.Poles = blt.MaxPoles
			}
			mean, spread := released(t, mechtest.ByCount(mechtest.Open(t, config, [32]byte{9})), first, c.steps)
			t.Logf("%s W=%d: %.3f ± %.3f (Δ/µ)², certified %.3f", name, c.window, mean, spread, want)
			if math.Abs(mean-want) > 6.11*spread || spread > 0.04*want {
				t.Errorf("%s W=%d: %g ± %g, want %g", name, c.window, mean, spread, want)
			}
		}
		// h nodes of variance h(Δ/µ)², less the zeros at the end of a place
		f("tree-gaussian", c.window, h*(h-1+1/float64(c.window)))
		f("blt", 8*c.window, response.Variance(c.window))
	}
	for _, name := range []string{"tree-gaussian", "blt"} {
		config := config(name, 16)
		calibration := mechtest.Plan(t, config)
		whole, _ := released(t, mechtest.ByCount(mechtest.Open(t, config, [32]byte{9})), 64, short)
		half, err := noise.NewGaussian(noise.Scale{Mant: calibration.Scale.Mant, Exp: calibration.Scale.Exp - 1})
		if err != nil {
			t.Fatal(err)
		}
		if mean, spread := released(t, mechtest.ByCount(mechtest.Planted(t, config, calibration, half)), 64,
			short); mean+6.11*spread > whole/3 {
			t.Errorf("%s at half scale: %g ± %g, at full scale %g", name, mean, spread, whole)
		}
	}
}
