package bandit

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// scaleOf returns the scale of the noise of a node, in loss units.
func scaleOf(tb testing.TB, c Config, m mechanisms.Config) float64 {
	tb.Helper()
	plan := mechtest.Plan(tb, m)
	return plan.Scale.Float64() * plan.Grid.Unit() * machineGain(c)
}

// lemmas returns the printed noise scales: λ = √T·n·L·ln T/ε of Laplace noise as in Lemma 7, and σ of Gaussian noise as
// in Lemma 10.
func lemmas(law mechanisms.Law, n, total, lipschitz float64, b dp.Budget) float64 {
	root, log := math.Sqrt(total), math.Log(total)
	if law == mechanisms.Laplace {
		return root * n * lipschitz * log / b.Epsilon
	}
	vectors := (1 + root/n) * math.Log((n+total)/b.Delta)
	return math.Sqrt(root*n*vectors) * lipschitz * log * math.Log(total/b.Delta) / b.Epsilon
}

// asPrinted returns m with the ε at which exact calibration gives the noise that the paper prints for the ε of m.
func asPrinted(tb testing.TB, c Config, m mechanisms.Config) mechanisms.Config {
	tb.Helper()
	facts, _ := mechanisms.FactsOf(m.Name)
	total := float64(c.Rounds) * float64(c.Actions.Records)
	scale := lemmas(facts.Law, float64(c.Set.Dimension()), total, c.Lipschitz, m.Budget)
	least, most := m.Budget.Epsilon*1e-4, m.Budget.Epsilon
	for range 40 { // the scale falls with ε
		m.Budget.Epsilon = math.Sqrt(least * most)
		if scaleOf(tb, c, m) > scale {
			least = m.Budget.Epsilon
		} else {
			most = m.Budget.Epsilon
		}
	}
	return m
}

// TestReferenceNoise checks reference values for T = 10⁴, n = 4, L = D = 1, ε = 1, δ = 10⁻⁶, Φ = 2.4. Exact calibration
// of Laplace noise gives λ = 768, and the paper's formula gives 3684.14. The paper's formula for the σ of Gaussian
// noise has four logarithms.
func TestReferenceNoise(t *testing.T) {
	c := paper(t, 4, 1e4)
	c.Losses.High = 2.4
	if got := scaleOf(t, c, mechanism(c, "tree-laplace", 1)); math.Abs(got/768-1) > 1e-4 {
		t.Errorf("λ = %g, want 768", got)
	}
	if got := scaleOf(t, c, asPrinted(t, c, mechanism(c, "tree-laplace", 1))); math.Abs(got/3684.14-1) > 1e-4 {
		t.Errorf("the paper's λ = %g, want 3684.14", got)
	}
	sigma := 10 * 2 * math.Log(1e4) * math.Log(1e10) * math.Sqrt((1+100.0/4)*math.Log(10004/1e-6))
	if got := scaleOf(t, c, asPrinted(t, c, mechanism(c, "tree-gaussian", 1))); math.Abs(got/sigma-1) > 1e-4 {
		t.Errorf("the paper's σ = %g, want %g", got, sigma)
	}
}

// TestZeroOutNoiseFollowsTheLongestContribution checks noise under zero-out adjacency. A contribution has a distance of
// at most 1 + |1 − 2b| from the null contribution, where b is the baseline, and of at most 2 from another one. So
// zero-out noise goes down to half of the noise under replace.
func TestZeroOutNoiseFollowsTheLongestContribution(t *testing.T) {
	for _, baseline := range []float64{0, 0.25, 0.5, 0.9} {
		c := paper(t, 4, 1e4)
		c.Baseline = baseline
		replace := scaleOf(t, c, mechanism(c, "tree-laplace", 1))
		against := mechanism(c, "tree-laplace", 1)
		against.Unit = protection.Event{Exchange: dp.ZeroOut}
		far := 1 + math.Abs(1-2*baseline)
		if err := (operator{Config: c}).Require(&against, nil); err != nil {
			t.Fatal(err)
		}
		if got := scaleOf(t, c, against) / replace; math.Abs(got-far/2) > 1e-4 {
			t.Errorf("baseline %g: %g times the noise under replace, want %g", baseline, got, far/2)
		}
		var u directions
		u.use([seedLen]byte{1})
		added := make([]float64, 2*4)
		for _, value := range []float64{-1, 1} {
			u.write(added[:4], 1)
			contribute(added, value, 2*c.Baseline-1)
			if long := floats.Norm(added[:4], 2); long > far+1e-12 {
				t.Errorf("baseline %g: a contribution is %g long, above %g", baseline, long, far)
			}
		}
		stored, err := operator{Config: c}.Params(against)
		if err != nil {
			t.Fatal(err)
		}
		again := mechanism(c, "tree-laplace", 1)
		again.Unit = protection.Event{Exchange: dp.ZeroOut}
		err = operator{Config: c}.Require(&again, stored)
		if err != nil || scaleOf(t, c, again) != scaleOf(t, c, against) {
			t.Errorf("baseline %g: a stored plan has other noise: %v", baseline, err)
		}
	}
}

// TestGammaNoiseIsShorter checks that the mean length of Gamma noise is n·Δ₂h/ε. The mean length of Laplace noise of
// the same ε is √2 times as large.
func TestGammaNoiseIsShorter(t *testing.T) {
	const n = 4
	c := paper(t, n, 100)
	mean := map[string]float64{}
	const keys = 300
	for _, name := range []string{"tree-gamma", "tree-laplace"} {
		m := mechanism(c, name, 1)
		for key := range keys {
			stream := mechtest.Open(t, m, [32]byte{byte(key), byte(key >> 8), 1})
			for place := range m.Batch {
				var r operators.Record
				r.Identity.Offset = int64(place)
				stream.Add(r.Identity, nil)
			}
			stream.Close()
			mean[name] += floats.Norm(stream.Sum(0), 2) / keys
		}
		t.Logf("%s: a node's noise has length %.1f contributions on average", name, mean[name])
	}
	h := 1 + math.Ceil(math.Log2(10))
	if got, want := mean["tree-gamma"], n*2*h; math.Abs(got/want-1) > 0.2 { // the limit is 6.9 standard errors
		t.Errorf("Gamma noise has length %g, want %g", got, want)
	}
	if !(mean["tree-gamma"] < 0.9*mean["tree-laplace"]) {
		t.Errorf("Gamma noise has length %g, Laplace noise %g", mean["tree-gamma"], mean["tree-laplace"])
	}
}

// TestRegretUnderPrintedNoise checks that most of the regret comes from the paper's noise. The
// regret falls as ε grows, and for large ε it equals the regret without noise. With exact noise of the same ε the
// regret is strictly smaller and falls faster with T.
func TestRegretUnderPrintedNoise(t *testing.T) {
	sizes := tiertest.Runs([]int{5_000, 30_000}, []int{10_000, 100_000, 1_000_000, 10_000_000})
	const n = 2
	seeds := tiertest.Runs(8, 3)
	for _, name := range []string{"tree-laplace", "tree-gaussian"} {
		last := 0.0
		for _, total := range sizes {
			c := paper(t, n, float64(total))
			none := world{}.answered(t, c, name, true, total, seeds)
			exact := world{}.answered(t, c, name, false, total, seeds)
			printed := world{}.under(t, c, asPrinted(t, c, mechanism(c, name, 1)), false, total, seeds)
			weak := world{}.under(t, c, asPrinted(t, c, mechanism(c, name, 1e7)), false, total, seeds)
			t.Logf("%s, n = %d, T = %d: regret a play %.4f without noise, %.4f exact, %.4f printed, %.0f times; at ε = 10⁷ %.4f",
				name, n, total, none, exact, printed, printed/none, weak)
			if !(exact < 0.75*printed) || !(weak < 1.05*none) || !(printed > 5*none) {
				t.Errorf("%s, T = %d: regret %.4f printed, %.4f exact, %.4f printed at ε = 10⁷, %.4f without noise",
					name, total, printed, exact, weak, none)
			}
			if total > sizes[0] && !(printed/exact > 1.2*last) {
				t.Errorf("%s, T = %d: printed noise loses %.1f times as much, %.1f before", name, total, printed/exact, last)
			}
			last = printed / exact
		}
	}
}
