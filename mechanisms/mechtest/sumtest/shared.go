package sumtest

import (
	"bytes"
	"math"
	"math/big"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"oriel/mechanisms/audit/bound"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/rational"
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

// Step plays a step of one contribution; dst has its length. The chain keeps the key of the step's noise.
func Step(sum Sum, chain *noise.Chain, dst []float64, contribution ...int64) {
	chain.Absorb(noise.Identity{Offset: int64(sum.Steps())}, contribution)
	chain.Close(sum.Steps() + 1)
	sum.Add(dst, Wide(contribution), chain)
}

// Wide returns a contribution as a contribution sum.
func Wide(contribution []int64) []lattice.Int128 {
	v := make([]lattice.Int128, len(contribution))
	for i, x := range contribution {
		v[i] = v[i].AddInt64(x)
	}
	return v
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
	v := Wide(contribution)
	for want, sum := range map[float64]Sum{
		cipher: newSum(32, sampler),
		0:      newSum(32, &Script{Values: []int64{1, -3}}),
	} {
		got := testing.AllocsPerRun(steps, func() {
			chain.Absorb(noise.Identity{}, contribution)
			chain.Close(sum.Steps() + 1)
			sum.Add(dst, v, chain)
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

// Inside checks that x is in the interval, and that the interval is narrower than 2⁻¹⁴⁰ of x.
func Inside(t testing.TB, what string, x *big.Float, in rational.Interval) {
	t.Helper()
	if x.Cmp(in.Lo) < 0 || x.Cmp(in.Hi) > 0 {
		t.Fatalf("%s: %g is not in [%g, %g]", what, x, in.Lo, in.Hi)
	}
	width := new(big.Float).Sub(in.Hi, in.Lo)
	if width.Sign() > 0 && width.MantExp(nil)-x.MantExp(nil) > -140 {
		t.Fatalf("%s: interval [%g, %g] is wide", what, in.Lo, in.Hi)
	}
}

// Comings returns rules of adaptive participation. A rule reports whether the user has an event in a step, given the
// earlier releases. Steps count from 0; events are at least two steps apart, at most two in four steps.
func Comings[N int64 | float64]() map[string]func(step int, y []N) bool {
	return map[string]func(step int, y []N) bool{
		"again at once or later": func(step int, y []N) bool {
			return step == 0 || step == 2 && y[0] > 0 || step == 3 && y[0] <= 0
		},
		"again after a large release, or never": func(step int, y []N) bool {
			return step == 0 || step == 2 && y[1] >= 2
		},
		"first when a release invites it": func(step int, y []N) bool {
			return step == 1 && y[0] >= 1 || step == 2 && y[0] < 1 && y[1] > 0 || step == 3 && y[0] >= 1 && y[2] < 0
		},
	}
}

// NormalCell returns P(round(s·Z) = n), Z standard normal.
func NormalCell(s float64) func(n int64) float64 {
	return func(n int64) float64 {
		x := math.Abs(float64(n)) // the upper tail, because it has no cancellation
		return (math.Erfc((x-0.5)/s/math.Sqrt2) - math.Erfc((x+0.5)/s/math.Sqrt2)) / 2
	}
}

// RefutedMu returns the largest µ that a test refutes at confidence 1 − 2α. yes and no count how often the test
// reported the canary, in n streams with the canary and in n streams without it. Φ⁻¹(TPR) − Φ⁻¹(FPR) is at most µ for
// every test of a µ-GDP mechanism (Dong, Roth and Su 2022).
func RefutedMu(yes, no, n int, alpha float64) float64 {
	return distuv.UnitNormal.Quantile(bound.Lower(yes, n, alpha)) -
		distuv.UnitNormal.Quantile(1-bound.Lower(n-no, n, alpha))
}

// PromisedMu returns a µ that RefutedMu reaches with probability 0.999, if the test is the most powerful test of a
// shift mu, with its threshold at mu/2. Both counts of right answers are binomial at rate Φ(µ/2), and each is 3.3
// standard deviations below its mean with probability 0.0005.
func PromisedMu(mu float64, n int, alpha float64) float64 {
	p := distuv.UnitNormal.CDF(mu / 2)
	right := int(float64(n)*p - 3.3*math.Sqrt(float64(n)*p*(1-p)))
	return RefutedMu(right, n-right, n, alpha)
}
