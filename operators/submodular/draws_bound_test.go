package submodular

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/operators"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// TestBoundedRate checks the bounded rate. It is the rate of Streeter and Golovin's algorithm if ε does not limit it,
// at most 1/G for short streams with G events between draws, and at most the rate that ε and δ allow. The regret bound
// must follow its formula.
func TestBoundedRate(t *testing.T) {
	of := func(epsilon float64, horizon, batch uint64, lines ...string) (rate, lost float64, published string) {
		t.Helper()
		m := lifetime(horizon, epsilon)
		m.Batch = batch
		c, m, _ := config(t, m, append([]string{"RULE=draws", "PICK=3", "ELEMENTS=10"}, lines...)...)
		p := mechtest.Plan(t, m)
		return eta(m, p), c.drawsRegret(m, eta(m, p)), c.Describe(m).Steps
	}
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got/want-1) > 1e-3 {
			t.Errorf("%s: %g, want %g", what, got, want)
		}
	}
	const each, bounded = "EMIT_EVERY=1", "RATE=bounded"
	rate, lost, published := of(1e9, 10000, 2, each, bounded)
	near("η of steps of 2 events", rate, math.Sqrt(3*math.Log(10)/(2*20000)))
	near("its bound", lost, rate*2*20000+3*(math.Log(10)/rate+2))
	if !strings.Contains(published, "lack at most") {
		t.Errorf("plan says %s", published)
	}
	_, lost, _ = of(1e9, 10000, 1, each, bounded)
	near("the bound", lost, 2*math.Sqrt(3*10000*math.Log(10))+3) // twice √(kT·ln N), plus 3
	// unit is the largest gain from one element.
	for f, unit := range map[string]float64{"modular": 1.0 / 3, "quadratic": 5.0 / 9} {
		_, lost, _ = of(1e9, 10000, 1, each, bounded, "FUNCTION="+f)
		near("the bound of "+f, lost, 2*math.Sqrt(3*unit*10000*math.Log(10))+3*unit)
	}
	rate, _, _ = of(1e9, 10000, 1, "EMIT_EVERY=5000", bounded)
	near("η of draws each 5000 events", rate, 1.0/5000)
	private, _, _ := of(0.1, 1000, 1, each, bounded)
	tight, _, published := of(0.1, 1000, 1, each)
	if private != tight || !strings.Contains(published, "no bound") {
		t.Errorf("η = %g at ε = 0.1, tight %g; %s", private, tight, published)
	}
	if rate, lost, _ := of(1e9, 10000, 1, each); rate < 1 || !math.IsInf(lost, 1) {
		t.Errorf("η = %g of the tight rate without privacy, and a bound of %g", rate, lost)
	}
	c, m, _ := config(t, lifetime(10000, 1), "RULE=draws", "PICK=3", "ELEMENTS=10", "EMIT_EVERY=100")
	if at, beyond := c.drawsRegret(m, 0.01), c.drawsRegret(m, 0.0101); math.IsInf(at, 1) || !math.IsInf(beyond, 1) {
		t.Errorf("of η = 1/G a bound of %g, and of more %g", at, beyond)
	}
	if _, err := configOf(towns, optest.Life(16), "RULE=argmax", "PICK=2", "ELEMENTS=5", bounded); err == nil {
		t.Error("a bounded rate is taken where nothing is drawn")
	}
}

// TestDrawsAreWithinTheirBound checks that at the bounded rate the missed gain of all positions is within the bound, in
// the mean of 24 keys, or 8 in the short form. Each event values one element, uniformly at random; without privacy, at
// least a tenth of the bound must be missed. The tight rate is as large as ε allows. With infinite ε, and elements that
// are valued in turn, the tight rate always follows too late, and misses half of the gain.
func TestDrawsAreWithinTheirBound(t *testing.T) {
	const events = 2000
	keys := tiertest.Runs(8, 24)
	missed := func(epsilon float64, n, pick int, every, rate string, wants func(rng *rand.Rand, i int) int,
	) (mean, bound float64) {
		c, m, p := config(t, lifetime(events, epsilon),
			"RULE=draws", "PICK="+strconv.Itoa(pick), "ELEMENTS="+strconv.Itoa(n),
			"EMIT_EVERY="+every, "RATE="+rate)
		for key := range byte(keys) {
			machine, err := newMachine(c, p, mechtest.Open(t, m, [32]byte{key, 6}))
			if err != nil {
				t.Fatal(err)
			}
			counted := operators.ByCount(machine)
			rng, sums, had := rand.New(rand.NewPCG(uint64(key), 60)), make([]float64, n*pick), 0.0
			for i := range events {
				v := make([]float64, n)
				if v[wants(rng, i)] = 1; i == 0 {
					v[0], v[1] = 0.5, 0
				}
				r := operators.Record{Event: event.Event{Vector: event.Vector{Values: v}}}
				r.Identity.Offset = int64(i)
				for k, g := range machine.contribution(r) {
					sums[k] += g + 0.5
					if k%n == machine.set[k/n] {
						had += g + 0.5
					}
				}
				counted.Add(nil, r)
			}
			for i := range pick {
				mean += slices.Max(sums[i*n:][:n]) / float64(keys)
			}
			mean -= had / float64(keys)
		}
		return mean, c.drawsRegret(m, eta(m, mechtest.Plan(t, m)))
	}
	for _, row := range []struct {
		epsilon float64
		pick    int
		every   string
		share   float64 // at least this share of the bound is missed
	}{
		{1e9, 1, "1", 0.1},
		{1e9, 3, "1", 0.1},
		{1e9, 1, "10", 0},
		{1e9, 3, "10", 0},
		{40, 3, "1", 0.05},
		{1, 3, "10", 0},
		{1, 1, "1", 0},
	} {
		n := row.pick + 1
		alike := func(rng *rand.Rand, _ int) int { return rng.IntN(n) }
		got, bound := missed(row.epsilon, n, row.pick, row.every, bounded, alike)
		t.Logf("%+v: %.0f is missed, at most %.0f", row, got, bound)
		if got > bound || got < row.share*bound {
			t.Errorf("%+v: %g is missed, at most %g", row, got, bound)
		}
	}
	turns := func(_ *rand.Rand, i int) int { return i % 2 }
	slow, bound := missed(1e9, 2, 1, "1", bounded, turns)
	fast, _ := missed(1e9, 2, 1, "1", tight, turns)
	if t.Logf("turns: %.0f, tight %.0f", slow, fast); slow > bound || fast < 0.4*events {
		t.Errorf("of turns %g is missed, at most %g; at the tight rate %g", slow, bound, fast)
	}
}
