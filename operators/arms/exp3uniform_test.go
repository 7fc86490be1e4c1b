package arms

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas/event"
)

// TestEstimatesOfExp3Uniform checks each line of the proof of Theorem 3 on draws of the rule itself, with the worst
// sums that noise allows. No probability is below η, the middle depends on earlier releases only, estimates are
// unbiased, and exponential weights keep the bound of their lemma on every path.
func TestEstimatesOfExp3Uniform(t *testing.T) {
	const k, records, rounds = 4, 4, 600
	c := config(exp3Uniform, records, 0)
	c.Arms = named(k)
	stream := mechtest.Open(t, released(c, 1), [32]byte{7})
	n, err := noiseOf(stream)
	if err != nil {
		t.Fatal(err)
	}
	w, err := newExp3Uniform(k, records, n)
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(1, 7))
	played, paid, middle := 0.0, 0.0, 0.0
	for round := range rounds {
		eta, before := w.rate(), slices.Clone(w.losses)
		arm, chance := w.next(stream)
		if chance < eta*(1-0x1p-19) {
			t.Fatalf("round %d: a chance of %g, below η = %g", round, chance, eta)
		}
		all := 0.0
		for _, l := range before {
			all += math.Exp(-eta * (l - slices.Min(before)))
		}
		p := math.Exp(-eta*(before[arm]-slices.Min(before))) / all // the arm's probability without exploration
		if q := (1-eta*k)*p + eta; math.Abs(q/chance-1) > 0x1p-18 {
			t.Fatalf("round %d: a chance of %g, want %g", round, chance, q)
		}
		stream.Add(noise.Identity{Offset: int64(round)}, nil)
		stream.Close()
		sum := records*(rng.Float64()-0.5) + 3*rng.NormFloat64()
		w.learn(arm, chance, records, sum)
		z := sum/records - min(max(middle, -0.5), 0.5)
		estimate := z / chance
		if off := w.losses[arm] - before[arm] - estimate; math.Abs(off) > 1e-9*math.Abs(estimate)+1e-9 {
			t.Fatalf("round %d: estimate off by %g", round, off)
		}
		middle += (sum/records - middle) / float64(round+1)
		x := eta * estimate
		if math.Abs(x) > math.Abs(z)*(1+0x1p-18) {
			t.Fatalf("round %d: η times the estimate is %g, above |Z| = %g", round, x, math.Abs(z))
		}
		played += p * estimate
		paid += p / eta * (math.Exp(-x) - 1 + x)
	}
	for arm, l := range w.losses {
		if most := math.Log(k)/w.rate() + paid; played-l > most {
			t.Errorf("arm %d: exponential weights lose %g on it, above %g", arm, played-l, most)
		}
	}
	if best := played - slices.Min(w.losses); best < 0 {
		t.Errorf("weights lose %g on the best arm: nothing is tested", best)
	}
}

// TestRoundCost checks that V is the mean of (1+|ξ|)²e^{1+|ξ|}, by numerical integration over exponential |ξ|.
func TestRoundCost(t *testing.T) {
	if got := roundCost(0); math.Abs(got-(math.E/2+1)) > 1e-15 {
		t.Errorf("without noise %g", got)
	}
	for _, beta := range []float64{1e-3, 0.125, 0.25, largestNoise} {
		const steps = 400_000
		mean := 0.0
		for i := range steps { // t goes up to 80 scales of the noise
			x := (float64(i) + 0.5) * 80 * beta / steps
			mean += (1 + x) * (1 + x) * math.Exp(1+x-x/beta) * 80 / steps
		}
		if got := roundCost(beta); math.Abs(got/(mean/2+1)-1) > 1e-4 {
			t.Errorf("scale %g: %g, want %g", beta, got, mean/2+1)
		}
	}
}

// TestRegretIsBoundedWhateverLossesDo checks the bound of Theorem 3 with losses at both ends of the range, which
// change.
func TestRegretIsBoundedWhateverLossesDo(t *testing.T) {
	const total, k, records = 100_000, 10, 4
	c := config(exp3Uniform, records, 0)
	m := released(c, 1)
	bound := c.exp3UniformBound(total, laplace(m.Unit, m.Budget.Epsilon))
	if !(bound < total/4) {
		t.Errorf("the bound is %.0f of %d plays: it says nothing", bound, total)
	}
	for name, cheap := range map[string]func(arm, play int) bool{
		"one arm":       func(arm, _ int) bool { return arm == 7 },
		"all but one":   func(arm, _ int) bool { return arm != 7 },
		"half way":      func(arm, play int) bool { return arm == 7 == (play < total/2) },
		"one by one":    func(arm, play int) bool { return arm == play*k/total || arm == 3 },
		"now and then":  func(arm, play int) bool { return (play/100+arm)%3 == 0 },
		"late surprise": func(arm, play int) bool { return play > total*2/3 && arm == 2 },
	} {
		machine := open(t, c, m, 1, false)
		counted := operators.ByCount(machine)
		made, lost, arms := machine.Open(nil), 0.0, make([]float64, k)
		for play := range total {
			for arm := range arms {
				if !cheap(arm, play) {
					arms[arm]++
				}
			}
			d := made[play%records]
			loss := 1.0
			if cheap(int(d.Point[0]), play) {
				loss = 0
			}
			lost += loss
			r := operators.Record{
				Key: strconv.AppendUint(nil, d.Index, 10), Event: event.Event{Numbers: []float64{loss}},
			}
			r.Identity.Offset = int64(play)
			if next := counted.Add(nil, r); len(next) > 0 {
				made = next
			}
		}
		regret := lost - slices.Min(arms)
		t.Logf("%s: regret %.0f, bound %.0f", name, regret, bound)
		if !(regret <= bound) {
			t.Errorf("%s: regret %.0f, above %.0f", name, regret, bound)
		}
	}
}

// TestExp3UniformIsRefused checks that exp3-uniform is refused where no bound is proved for it.
func TestExp3UniformIsRefused(t *testing.T) {
	c := config(exp3Uniform, 1, 0)
	m := released(config(exp3, 1, 0), 1)
	if _, err := New(c, mechtest.Open(t, m, [32]byte{1})); err == nil {
		t.Error("one answer a round at ε = 1 is taken")
	}
	if err := (operator{Config: c}).Require(&m, nil); err == nil {
		t.Error("one answer a round at ε = 1 is planned")
	}
	c.Actions.Records, c.Actions.Actions = 4, 4
	m = released(c, 1)
	m.Name, m.Budget.Delta = "once-gaussian", 1e-6
	if err := (operator{Config: c}).Require(&m, nil); err == nil {
		t.Error("Gaussian noise is planned")
	}
}
