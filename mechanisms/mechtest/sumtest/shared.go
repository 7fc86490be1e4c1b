package sumtest

import (
	"bytes"
	"math/big"
	"slices"
	"testing"

	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
)

// Gaussian returns the sampler of integers with scale s, rounded up.
func Gaussian(t testing.TB, s float64) noise.Sampler {
	t.Helper()
	sampler, err := noise.NewGaussian(noise.ScaleUp(s))
	if err != nil {
		t.Fatal(err)
	}
	return sampler
}

// Step absorbs a contribution and adds it; dst has the contribution's length.
func Step(sum Sum, chain *noise.Chain, dst []float64, contribution ...int64) {
	chain.Absorb(sum.Steps()+1, 0, noise.Identity{Offset: int64(sum.Steps())}, contribution)
	sum.Add(dst, contribution, chain)
}

// AddAllocatesOnlyTheCipher checks that a step allocates at most one block cipher (none if the processor has AES
// instructions), on average over some steps. newSum makes a sum of n coordinates.
func AddAllocatesOnlyTheCipher(t testing.TB, steps int, newSum func(n int, sampler noise.Sampler) Sum) {
	t.Helper()
	sampler := Gaussian(t, 1<<30)
	chain, dst, contribution := noise.NewChain([32]byte{}), make([]float64, 32), make([]int64, 32)
	seed := chain.Seed(noise.NodeID{})
	cipher := testing.AllocsPerRun(100, func() { sampler.Fill(contribution, seed) })
	clear(contribution)
	for want, sum := range map[float64]Sum{
		cipher: newSum(32, sampler),
		0:      newSum(32, &Script{Values: []int64{1, -3}}),
	} {
		got := testing.AllocsPerRun(steps, func() {
			chain.Absorb(sum.Steps()+1, 0, noise.Identity{}, contribution)
			sum.Add(dst, contribution, chain)
		})
		if got > want {
			t.Errorf("%g allocations a step, want at most %g", got, want)
		}
	}
}

// RestoreGivesTheSameBytes plays steps of three coordinates on sum. It repeats each step on again, restored from the
// state before it, and compares releases and states. Before each restore, again plays a step of another history, so
// that the test finds any state that survives Restore.
func RestoreGivesTheSameBytes(t testing.TB, what string, steps int, sum, again Sum) {
	t.Helper()
	chain, dst, twice := noise.NewChain([32]byte{7}), make([]float64, 3), make([]float64, 3)
	var before []byte
	for now := range int64(steps) {
		before = sum.AppendState(before[:0])
		key := chain.Key()
		Step(sum, chain, dst, now, -now, 5)
		Step(again, noise.NewChain([32]byte{8, byte(now)}), twice, 7, now, -1)
		if err := again.Restore(before); err != nil {
			t.Fatalf("%s, step %d: %v", what, now+1, err)
		}
		Step(again, noise.NewChain(key), twice, now, -now, 5)
		if !slices.Equal(dst, twice) {
			t.Fatalf("%s, step %d: release %v after a restore, want %v", what, now+1, twice, dst)
		}
		after := sum.AppendState(nil)
		if len(after) != sum.StateLen() || !bytes.Equal(after, again.AppendState(nil)) {
			t.Fatalf("%s, step %d: states differ after a restore", what, now+1)
		}
	}
}

// RefusesState checks that sum refuses a state, and stays unchanged.
func RefusesState(t testing.TB, sum Sum, what string, bad []byte) {
	t.Helper()
	before := sum.AppendState(nil)
	if sum.Restore(bad) == nil {
		t.Errorf("%s: accepted", what)
	}
	if !bytes.Equal(sum.AppendState(nil), before) {
		t.Errorf("%s: a refused state changes the sum", what)
	}
}

// Flipped returns state with bits of byte i flipped.
func Flipped(state []byte, i int, flip byte) []byte {
	bad := bytes.Clone(state)
	bad[i] ^= flip
	return bad
}

// WritesBack checks that sum, restored from a state, writes the same state.
func WritesBack(t testing.TB, sum Sum, state []byte) {
	t.Helper()
	if sum.Restore(state) == nil && !bytes.Equal(sum.AppendState(nil), state) {
		t.Error("a restored state is not written back")
	}
}

// Integer returns x as a big integer.
func Integer(x lattice.Int128) *big.Int {
	z := new(big.Int).Lsh(big.NewInt(x.Hi), 64)
	return z.Add(z, new(big.Int).SetUint64(x.Lo))
}
