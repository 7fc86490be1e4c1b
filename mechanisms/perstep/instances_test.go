package perstep

import (
	"testing"

	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

// TestInstancesHaveIndependentNoise checks that the components of one stream, which are instances, have independent
// noise.
func TestInstancesHaveIndependentNoise(t *testing.T) {
	sumtest.InstancesAreApart(t, 40, func(sampler noise.Sampler, instance uint16) sumtest.Sum {
		sum, err := New(unit, 2, sampler, instance)
		if err != nil {
			t.Fatal(err)
		}
		return sum
	})
}
