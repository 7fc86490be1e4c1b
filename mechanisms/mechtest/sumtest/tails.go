package sumtest

import (
	"testing"

	"oriel/mechanisms/noise"
)

// Sum is mechanisms.Sum over a lattice of unit 1, so that its releases are integers.
type Sum interface {
	Add(dst []float64, v []int64, chain *noise.Chain)
	Steps() uint64
	StateLen() int
	AppendState(dst []byte) []byte
	Restore(state []byte) error
}

// DrawsReachTheRelease plays sums of n coordinates over a script of Tails(reach, scale). It plays each record twice
// from the same state: with the step's draws, and with zeros in their place. The two releases must differ by exactly
// the draws, so a release is the sum of the total, the carry of earlier steps, and the draw. Releases must stay within
// 2⁵³.
func DrawsReachTheRelease(t testing.TB, reach, scale int64, n int, newSum func(sampler noise.Sampler) Sum) {
	t.Helper()
	const rounds = 4 // number of passes through the script in each coordinate
	values := Tails(reach, scale)
	if len(values)%2 == 0 || len(values)%n == 0 {
		t.Fatalf("BUG: sumtest: %d values: the same ones would meet the same nodes and coordinates again", len(values))
	}
	sampler := &bySeed{script: Script{Values: values}, drawn: map[noise.Seed][]int64{}, fresh: make([]int64, n)}
	loud, quiet := newSum(sampler), newSum(sampler)
	chain, with, without := noise.NewChain([32]byte{1}), make([]float64, n), make([]float64, n)
	contribution := make([]int64, n)
	for now := range rounds * len(values) {
		Contribution(contribution, now)
		chain.Absorb(loud.Steps()+1, 0, noise.Identity{Offset: int64(now)}, contribution)
		if err := quiet.Restore(loud.AppendState(nil)); err != nil {
			t.Fatal(err)
		}
		sampler.silent = true
		quiet.Add(without, contribution, chain)
		sampler.silent = false
		clear(sampler.fresh)
		loud.Add(with, contribution, chain)
		for i, want := range sampler.fresh {
			if got := with[i] - without[i]; got != float64(want) {
				t.Fatalf("step %d, coordinate %d: of draws of %.4g scales, %d, %.0f reaches the release",
					now+1, i+1, float64(want)/float64(scale), want, got)
			}
		}
	}
}
