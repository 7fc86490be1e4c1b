package perstep

import (
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// TestReleaseIsContributionAndNoiseInTheTails checks y_t − v_t = n_t exactly, at the reach of each sampler: 29 s for
// Gaussian noise, 400 s for the factors of Gamma noise.
func TestReleaseIsContributionAndNoiseInTheTails(t *testing.T) {
	for _, c := range []struct{ reach, scale int64 }{{29, 3}, {29, 1 << 40}, {400, 1 << 40}} {
		sumtest.DrawsReachTheRelease(t, c.reach, c.scale, 4, func(sampler noise.Sampler) sumtest.Sum {
			return newPerStep(t, 4, sampler)
		})
	}
}

func TestTailDrawsReachTheRelease(t *testing.T) {
	sumtest.FarDrawsReachTheRelease(t, noise.NodeID{Block: 1}, func(n int, sampler noise.Sampler) sumtest.Sum {
		o, err := New(unit, n, sampler, 0)
		if err != nil {
			t.Fatal(err)
		}
		return o
	})
}
