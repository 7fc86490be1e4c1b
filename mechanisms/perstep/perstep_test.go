package perstep

import (
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/noise"
)

var unit = lattice.Grid{Exp: 0, Lambda: 1 << 24} // one lattice unit is q = 1, so releases are the integers themselves

// silence is a sampler of zeros.
type silence struct{}

func (silence) Fill(dst []int64, _ noise.Seed) { clear(dst) }

// listening is a sampler that records the seeds it gets.
type listening struct {
	noise.Sampler
	seeds []noise.Seed
}

func (l *listening) Fill(dst []int64, seed noise.Seed) {
	l.seeds = append(l.seeds, seed)
	l.Sampler.Fill(dst, seed)
}

func gamma(t testing.TB, s float64, n int) noise.Sampler {
	t.Helper()
	g, err := noise.NewGamma(noise.ScaleUp(s), n)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func newPerStep(t testing.TB, n int, sampler noise.Sampler) *PerStep {
	t.Helper()
	o, err := New(unit, n, sampler, 3)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

func TestNewRefuses(t *testing.T) {
	if _, err := New(unit, 0, silence{}, 0); err == nil {
		t.Error("New with dimension 0 succeeds")
	}
	if _, err := New(lattice.Grid{}, 1, silence{}, 0); err == nil {
		t.Error("New without a grid succeeds")
	}
}

func TestAddRefusesOtherShapes(t *testing.T) {
	o, chain := newPerStep(t, 2, silence{}), noise.NewChain([32]byte{})
	for _, shape := range [][2]int{{2, 1}, {1, 2}, {3, 3}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a release of %d and a contribution of %d are accepted", shape[0], shape[1])
				}
			}()
			o.Add(make([]float64, shape[0]), make([]lattice.Int128, shape[1]), chain)
		}()
	}
	if o.Steps() != 0 {
		t.Errorf("a refused contribution counts: %d steps", o.Steps())
	}
}

// TestZeroNoiseGivesTheContributionOfTheStep checks that without noise y_t = v_t exactly, in units of the grid, without
// contributions of earlier steps.
func TestZeroNoiseGivesTheContributionOfTheStep(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	o, err := New(lattice.Grid{Exp: -3, Lambda: 1 << 24}, 2, silence{}, 0)
	if err != nil {
		t.Fatal(err)
	}
	chain, dst := noise.NewChain([32]byte{1}), make([]float64, 2)
	for now := range 100 {
		contribution := []int64{rng.Int64N(1<<40) - 1<<39, rng.Int64N(3) - 1}
		sumtest.Step(o, chain, dst, contribution...)
		if want := []float64{float64(contribution[0]) / 8, float64(contribution[1]) / 8}; !slices.Equal(dst, want) {
			t.Fatalf("t=%d: release %v, want %v", now+1, dst, want)
		}
	}
}

// TestSumIsWiderThanAWord checks that contribution and noise at the ends of their ranges do not wrap: |v| < 2⁵⁶ and |n|
// < 2⁶², and even larger numbers.
func TestSumIsWiderThanAWord(t *testing.T) {
	const most = 1<<63 - 1
	o, chain, dst := newPerStep(t, 2, &sumtest.Script{Values: []int64{most, -most - 1}}), noise.NewChain([32]byte{}),
		make([]float64, 2)
	sumtest.Step(o, chain, dst, most, -most-1)
	if want := []float64{0x1p64, -0x1p64}; !slices.Equal(dst, want) {
		t.Errorf("release %v, want %v", dst, want)
	}
}

// TestNoiseIsRecoveredFromReleases checks that the noise of step t is the vector of node {instance, t} under the chain
// after that step's records. It recovers the noise from the release.
func TestNoiseIsRecoveredFromReleases(t *testing.T) {
	const n = 3
	sampler := sumtest.Gaussian(t, 1<<20)
	o := newPerStep(t, n, sampler)
	chain, dst, want := noise.NewChain([32]byte{4}), make([]float64, n), make([]int64, n)
	for now := range int64(50) {
		contribution := []int64{now, -now * now, 7}
		sumtest.Step(o, chain, dst, contribution...)
		sampler.Fill(want, chain.Seed(noise.NodeID{Instance: 3, Block: uint64(now + 1)}))
		for i := range want {
			if got := int64(dst[i]) - contribution[i]; got != want[i] {
				t.Fatalf("t=%d: noise %d, want %d", now+1, got, want[i])
			}
		}
	}
}

// TestNoiseIsKeyedByTheHistory checks that each step uses one seed, that all seeds differ, and that other instances and
// other histories have other seeds.
func TestNoiseIsKeyedByTheHistory(t *testing.T) {
	const steps = 60
	run := func(instance uint16, changed int) []noise.Seed {
		l := &listening{Sampler: silence{}}
		o, err := New(unit, 1, l, instance)
		if err != nil {
			t.Fatal(err)
		}
		chain, dst := noise.NewChain([32]byte{5}), make([]float64, 1)
		for now := range steps {
			contribution := int64(1)
			if now == changed {
				contribution = 2
			}
			sumtest.Step(o, chain, dst, contribution)
		}
		return l.seeds
	}
	base := run(3, -1)
	seen := map[noise.Seed]bool{}
	for _, seed := range base {
		seen[seed] = true
	}
	if len(base) != steps || len(seen) != steps {
		t.Fatalf("%d draws with %d seeds in %d steps", len(base), len(seen), steps)
	}
	if !slices.Equal(run(3, -1), base) {
		t.Error("one history has two noises")
	}
	for now, seed := range run(4, -1) {
		if seen[seed] {
			t.Errorf("t=%d: another instance has the same noise", now+1)
		}
	}
	for _, at := range []int{0, 30, steps - 1} {
		for now, seed := range run(3, at) {
			if same := seed == base[now]; same != (now < at) {
				t.Errorf("contribution of step %d changed: noise of step %d the same: %v", at+1, now+1, same)
			}
		}
	}
}
