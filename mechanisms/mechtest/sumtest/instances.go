package sumtest

import (
	"encoding/binary"
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

// common is a sampler that draws one number for all coordinates, by the seed.
type common struct{}

func (common) Fill(dst []int64, seed noise.Seed) {
	x := int64(int16(binary.LittleEndian.Uint16(seed[:])))
	for i := range dst {
		dst[i] = x
	}
}

// CoordinatesAreAlike gives all coordinates of a long vector the same contributions and the same draws. All numbers of
// a release must then be equal, however many coordinates there are, also after a restore in the middle.
func CoordinatesAreAlike(t testing.TB, steps int, newSum func(n int, sampler noise.Sampler) Sum) {
	t.Helper()
	const n = 1<<13 + 3
	sum, chain := newSum(n, common{}), noise.NewChain([32]byte{4})
	dst, contribution := make([]float64, n), make([]int64, n)
	for now := range steps {
		if now == steps/2 {
			restored := newSum(n, common{})
			if err := restored.Restore(sum.AppendState(nil)); err != nil {
				t.Fatal(err)
			}
			sum = restored
		}
		for i := range contribution {
			contribution[i] = int64(now * now % 7)
		}
		Step(sum, chain, dst, contribution...)
		for i, x := range dst {
			if x != dst[0] {
				t.Fatalf("step %d: coordinate %d is %g, the first %g", now+1, i, x, dst[0])
			}
		}
	}
}
