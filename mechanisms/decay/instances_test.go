package decay

import (
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// TestInstancesHaveIndependentNoise checks that the components of one stream have independent noise. Each component is
// an instance of the mechanism on the same key chain.
func TestInstancesHaveIndependentNoise(t *testing.T) {
	sumtest.InstancesAreApart(t, 40, func(sampler noise.Sampler, instance uint16) sumtest.Sum {
		sum, err := New(written(t)[1], noise.ScaleUp(1<<20), grid, 2, sampler, instance)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	})
}

func TestLongVectorsAreAlikeInAllCoordinates(t *testing.T) {
	sumtest.CoordinatesAreAlike(t, 20, func(n int, sampler noise.Sampler) sumtest.Sum {
		sum, err := New(written(t)[1], noise.ScaleUp(1<<20), grid, n, sampler, 3)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	})
}
