package mechanisms_test

import (
	"math"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// units presents a stream as a sum over a lattice of unit 1. A step is one record, followed by null records that fill
// the batch.
type units struct {
	*mechtest.Counted
	exp int
}

func (u units) Steps() uint64 { return u.Step() }

func (u units) Add(dst []float64, v []lattice.Int128, _ *noise.Chain) {
	gradient := make([]float64, len(v))
	for i, x := range v {
		gradient[i] = math.Ldexp(lattice.Grid{}.Float64(x), u.exp)
	}
	id := noise.Identity{Offset: int64(u.Step() * u.Batch())}
	for !u.Counted.Add(id, gradient) {
		id.Offset, gradient = id.Offset+1, nil
	}
	for i, y := range u.Sum(0) {
		dst[i] = math.Ldexp(y, -u.exp)
	}
}

// TestDrawsReachTheSums checks, for every name and at the scale of its calibration, that draws reach the public sums
// unchanged, out to the sampler's reach and within 2⁵³ units.
func TestDrawsReachTheSums(t *testing.T) {
	for _, name := range mechanisms.Names() {
		c := config(name, 4)
		c.Batch = 3
		calibration := mechtest.Plan(t, c)
		scale := int64(math.Ceil(calibration.Scale.Float64()))
		if limit := int64(1<<52) / (29 * 8); scale > limit {
			t.Fatalf("%s: scale %d leaves no room for exact sums below 2^53", name, scale)
		}
		t.Run(name, func(t *testing.T) {
			sumtest.DrawsReachTheRelease(t, 29, scale, c.Dimension(), func(sampler noise.Sampler) sumtest.Sum {
				return units{mechtest.ByCount(mechtest.Planted(t, c, calibration, sampler)), calibration.Grid.Exp}
			})
		})
	}
}

// TestTailDrawsReachTheSums opens a stream in the usual way, with the sampler of its calibration. Its first release
// must equal the sampler's vector, whose noise exceeds 6 standard deviations. No other test covers Open with such large
// noise.
func TestTailDrawsReachTheSums(t *testing.T) {
	for _, name := range mechanisms.Names() {
		c, node := config(name, sumtest.FarDimension), noise.NodeID{}
		if name == "blt" || c.Scope == (protection.PerStep{}) {
			node.Block = 1
		}
		calibration := mechtest.Plan(t, c)
		var sampler noise.Sampler
		var err error
		switch {
		case strings.Contains(name, "gamma"):
			sampler, err = noise.NewGamma(calibration.Scale, c.Dimension())
		case strings.Contains(name, "laplace"):
			sampler, err = noise.NewLaplace(calibration.Scale)
		default:
			sampler, err = noise.NewGaussian(calibration.Scale)
		}
		if err != nil {
			t.Fatal(err)
		}
		drawn, _ := sumtest.FarVector(t, node, sampler)
		stream, err := mechanisms.Open(c, calibration, sumtest.FarKey(t, node))
		if err != nil {
			t.Fatal(err)
		}
		stream.Add(noise.Identity{}, nil)
		stream.Close()
		farthest := 0.0
		for i, y := range stream.Sum(0) {
			if want := float64(drawn[i]) * calibration.Grid.Unit(); y != want {
				t.Fatalf("%s, coordinate %d: release %g, drawn was %g", name, i+1, y, want)
			}
			farthest = max(farthest, math.Abs(float64(drawn[i]))/calibration.Scale.Float64())
		}
		if farthest < 6 {
			t.Errorf("%s: the farthest draw is %.4g scales: the test tests no tail", name, farthest)
		}
	}
}
