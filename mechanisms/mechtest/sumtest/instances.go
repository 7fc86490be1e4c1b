package sumtest

import (
	"testing"

	"oriel/mechanisms/noise"
)

// seedsOf is a sampler that records the seeds of its calls in order, and draws zeros.
type seedsOf struct{ seeds []noise.Seed }

func (s *seedsOf) Fill(dst []int64, seed noise.Seed) {
	s.seeds = append(s.seeds, seed)
	clear(dst)
}

// InstancesAreApart plays one history on two instances of a mechanism. All noise vectors of both instances must have
// different seeds. This is necessary because the components of a stream share a chain: if two had the same noise, the
// difference of their sums would reveal the exact difference of their contributions.
func InstancesAreApart(t testing.TB, steps int, newSum func(sampler noise.Sampler, instance uint16) Sum) {
	t.Helper()
	of := map[noise.Seed]uint16{}
	for _, instance := range []uint16{0, 1, 256} {
		sampler := &seedsOf{}
		sum, chain, dst := newSum(sampler, instance), noise.NewChain([32]byte{6}), make([]float64, 2)
		for now := range int64(steps) {
			Step(sum, chain, dst, now, -now)
		}
		if len(sampler.seeds) < steps {
			t.Fatalf("instance %d asks for %d vectors in %d steps", instance, len(sampler.seeds), steps)
		}
		for i, seed := range sampler.seeds {
			if other, known := of[seed]; known {
				t.Fatalf("vector %d of instance %d has the seed of one of instance %d", i+1, instance, other)
			}
			of[seed] = instance
		}
	}
}
