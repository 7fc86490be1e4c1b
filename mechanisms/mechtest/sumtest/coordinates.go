package sumtest

import (
	"encoding/binary"
	"testing"

	"oriel/mechanisms/noise"
)

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
