package sets

import (
	"encoding/binary"
	"math"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/optest"
)

// enumerated computes the exact law of all decisions of a stream's life, including coins. fast is the factor by which
// the rate is too high: 1, or more as a planted fault. worths are the values of the answers, in order; NaN stands for
// an answer without a value.
func enumerated(t *testing.T, c Config, m mechanisms.Config, values []float64, fast float64) optest.Law {
	t.Helper()
	stream := mechtest.Open(t, m, [32]byte{1})
	machine := opened(t, c, m, stream)
	counted := operators.ByCount(machine)
	start := machine.AppendState(nil)
	law := mechtest.Plan(t, m).DrawLaw(m)
	// The first step opens the life; the play that each other step answers follows its state as eight bytes.
	play := func(step int, state []byte) (after []byte, output string) {
		before := len(state) - 8
		if err := machine.Restore(state[:before]); err != nil {
			t.Fatal(err)
		}
		var made []operators.Decision
		if step == 0 {
			made = machine.Open(nil)
		} else {
			r := answer(binary.LittleEndian.Uint64(state[before:]), values[step-1], int64(step-1))
			r.Null = math.IsNaN(values[step-1])
			made = counted.Add(nil, r)
		}
		var published []byte
		for _, x := range made[0].Point {
			published = append(published, byte(x))
		}
		return binary.LittleEndian.AppendUint64(machine.AppendState(nil), made[0].Index), string(published)
	}
	return optest.LawOfSteps(stream, law, fast, append(start, make([]byte, 8)...), 1+len(values), play)
}

// TestTwoExpertsAreWithinTheirClaim enumerates all outcomes for two experts and two elements, including coins, on
// neighbouring streams of all kinds. The privacy loss of decisions must be within the claim, for pure ε and for (ε, δ).
// The claim is the loss of one expert. Some pair of streams must come close to the claim, and at three times the rate
// some pair must exceed it.
func TestTwoExpertsAreWithinTheirClaim(t *testing.T) {
	c := drawsOf(2, 2, 1, 3)
	kinds := []struct {
		share     float64
		adjacency dp.Adjacency
		delta     float64
	}{
		{1, dp.Replace, 0},
		{1, dp.Replace, 0.01},
		{1, dp.ZeroOut, 0},
		{0.34, dp.Replace, 0},
		{0.34, dp.Replace, 1e-6},
	}
	for _, kind := range tiertest.Runs([]int{1, 2, 4}, []int{0, 1, 2, 3, 4}) {
		kind := kinds[kind]
		c.Share = kind.share
		m := mechanismOf(t, c, 1)
		m.Unit, m.Budget = protection.Event{Exchange: kind.adjacency}, dp.Budget{Epsilon: 0.9, Delta: kind.delta}
		if err := (operator{Config: c}).Require(&m, nil); err != nil {
			t.Fatal(err)
		}
		g, err := mechtest.Plan(t, m).Guarantee(m)
		if err != nil {
			t.Fatal(err)
		}
		reach, beyond := 0.0, false
		first := []float64{1, 0}
		if kind.adjacency == dp.ZeroOut {
			first = []float64{1, math.NaN()}
		}
		for _, rest := range [][]float64{{1, 0}} {
			rates := []float64{1}
			if kind.delta == 0 && kind.share == 1 {
				rates = append(rates, 3) // three times the rate is too fast
			}
			for _, fast := range rates {
				a := enumerated(t, c, m, append([]float64{first[0]}, rest...), fast)
				b := enumerated(t, c, m, append([]float64{first[1]}, rest...), fast)
				total := 0.0
				for published, p := range a {
					total += p
					loss := math.Abs(math.Log(p / b[published]))
					if fast == 1 {
						reach = max(reach, loss/g.Epsilon)
					}
					beyond = beyond || fast == 3 && loss > g.Epsilon
				}
				if math.Abs(total-1) > 1e-9 || len(a) != len(b) {
					t.Fatalf("%+v: probabilities add up to %g", kind, total)
				}
				for _, delta := range []float64{a.HockeyStick(b, g.Epsilon), b.HockeyStick(a, g.Epsilon)} {
					if fast == 1 && delta > g.Delta+1e-12 {
						t.Errorf("%+v: at ε = %g δ is %g, the claim is %g", kind, g.Epsilon, delta, g.Delta)
					}
				}
			}
		}
		t.Logf("%+v: %.3f of ε", kind, reach)
		if kind.delta == 0 && (reach < 0.4 || reach > 1 || !beyond && kind.share == 1) {
			t.Errorf("%+v: the worst pair has %.3f of ε, thrice too fast one beyond it: %v", kind, reach, beyond)
		}
	}
}
