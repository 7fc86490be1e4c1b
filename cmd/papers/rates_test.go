package papers

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"

	"oriel/cmd/internal/digits"
	"oriel/cmd/internal/plan/decisions"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// TestGrowthInTime checks the window paper's claims on growth in T, from 5 000 to 20 000 steps. The regret of POCG
// grows like √T, that is by a factor of 2 (on stream A; on B its noise still throws decisions across the set). The
// regret of private sums, and of PQFTL, grows by one or more logarithms, that is by a factor of 1.5 at most.
func TestGrowthInTime(t *testing.T) {
	for _, row := range []struct {
		name        string
		column      int
		least, most float64
	}{
		{"POCG", 1, 1.6, 2.4},
		{"blt", 0, 1, 1.5},
		{"Gauss", 0, 1, 1.5},
		{"Γ", 0, 1, 1.5},
		{"PFTAL", 0, 1, 1.6},
		{"PQFTL", 3, 1, 1.5},
		{"PQFTL blt", 3, 1, 1.5},
	} {
		short, long := ended(t, tableOne, row.name, row.column, 5_000), ended(t, tableOne, row.name, row.column, 20_000)
		t.Logf("%s, %s: %.3g and %.3g, %.2f times", row.name, tableOne.Columns[row.column].Name, short, long, long/short)
		if !(long >= row.least*short && long <= row.most*short) {
			t.Errorf("%s, %s: %.3g after 5 000 steps, %.3g after 20 000: not %g to %g times", row.name,
				tableOne.Columns[row.column].Name, short, long, row.least, row.most)
		}
	}
}

// TestGrowthInPrivacy checks that the regret of private sums is proportional to 1/ε between 1 and 10, and grows with
// the window.
func TestGrowthInPrivacy(t *testing.T) {
	const steps = 5_000
	for _, name := range []string{"blt", "Gauss", "Γ", "PFTAL"} {
		one, ten := ended(t, tableOne, name, 0, steps), ended(t, tableOne, name, 1, steps)
		t.Logf("%s: %.3g and %.3g", name, one, ten)
		if !(one > 6*ten && one < 16*ten) {
			t.Errorf("%s: %.3g at ε = 1, %.3g at 10", name, one, ten)
		}
	}
	if narrow, wide := ended(t, tableOne, "blt", 2, steps), ended(t, tableOne, "once-blt", 2, steps); !(wide > narrow) {
		t.Errorf("%.3g with a window of 1024 steps, %.3g with one of all", narrow, wide)
	}
}

// TestPriceOfTheWholeRun checks PFTAL, whose Γ tree covers the whole run of 20 000 steps. It must lose more than the
// same method with a window of 1024 steps, but less than (log T/log W)^1.5 = 1.71 times as much, the ratio of the
// bounds.
func TestPriceOfTheWholeRun(t *testing.T) {
	for column := range tableOne.Columns {
		life, windowed := ended(t, tableOne, "PFTAL", column, 20_000), ended(t, tableOne, "Γ", column, 20_000)
		t.Logf("%s: %.3g and %.3g, %.2f times", tableOne.Columns[column].Name, life, windowed, life/windowed)
		if !(life > 1.08*windowed && life < 1.71*windowed) {
			t.Errorf("%s: %.3g for life, %.3g for a window: not 1.08 to 1.71 times", tableOne.Columns[column].Name, life,
				windowed)
		}
	}
}

// TestGrowthInDimension checks that the regret of a Γ tree grows like the dimension d, and the regret of Gaussian noise
// like √d or slower: Theorems 3 and 4 of the window paper. The long form checks 20 000 steps (results/window.md).
func TestGrowthInDimension(t *testing.T) {
	const steps = 2_000
	times := map[string]float64{}
	for _, name := range []string{"blt", "Gauss", "Γ"} {
		few, many := ended(t, windows, name, 0, steps), ended(t, windows, name, 1, steps)
		times[name] = many / few
		t.Logf("%s: %.3g in 10 dimensions, %.3g in 40, %.2f times", name, few, many, times[name])
	}
	if !(times["Γ"] > 2 && times["Γ"] < 4.4) || !(times["Gauss"] < 2.2) || !(times["blt"] < 2.2) {
		t.Errorf("from 10 to 40 dimensions regret is %v times as much", times)
	}
}

// TestAdviceOfCosts checks the advice of `oriel plan` for losses that predict nothing. It must be the λ₀ of Table I, to
// two digits, and more than halve the regret on stream A. Besides λ₀, plan may advise only the memory.
func TestAdviceOfCosts(t *testing.T) {
	given := opening{task: tasks[0], epsilon: 1, steps: 20_000}.environ("projection", "blt", window)
	stated, err := settings.Load(cocoSettings(tasks[0], given), settings.Operator)
	if err != nil {
		t.Fatal(err)
	}
	learner := stated.Learner()
	mechanism, operator := learner.Mechanism(), learner.Operator()
	advice, ok, err := decisions.Advise(mechanism, operator, nil)
	if err != nil || !ok {
		t.Fatalf("no advice: %v", err)
	}
	for _, unknown := range []digits.Number{advice.StrongConvexity, advice.Clip, advice.Constant} {
		if !math.IsNaN(float64(unknown)) {
			t.Errorf("advice %+v", advice)
		}
	}
	want, err := damping(tasks[0], given)
	if err != nil {
		t.Fatal(err)
	}
	got := float64(advice.StartRegularizer)
	if x, err := strconv.ParseFloat(strings.TrimPrefix(want, "ORIEL_START_REGULARIZER="), 64); err != nil ||
		math.Abs(got/x-1) > 0.05 {
		t.Errorf("λ₀ = %g is advised, and Table I has %s: %v", got, want, err)
	}
	with, without := ended(t, tableOne, "blt, λ₀", 0, 20_000), ended(t, tableOne, "blt", 0, 20_000)
	if t.Logf("regret %.3g with λ₀, %.3g without", with, without); !(2*with < without) {
		t.Errorf("regret %.3g with λ₀, %.3g without", with, without)
	}
}

// naive returns the root mean square of 256 coordinates of the last of this many sums, at ε. The sums are those that
// the stream releases, or sums of the single steps that it releases.
func naive(t *testing.T, name string, steps uint64, epsilon float64) float64 {
	t.Helper()
	const n = 256
	m := mechanisms.Config{
		Name: name, Batch: 1, Contribution: contribution.OneComponent(n, 1), Budget: dp.Budget{Epsilon: epsilon, Delta: 1e-6},
		Terms: protection.Terms{Scope: protection.PerStep{}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	if name == "once-gamma" {
		m.Budget.Delta = 0
	}
	facts, _ := mechanisms.FactsOf(name)
	if !facts.EachStep() {
		m.Scope = protection.Window{Steps: steps + 1}
	}
	stream := mechtest.Open(t, m, [32]byte{3})
	sum, zero := make([]float64, n), make([]float64, n)
	for i := range steps {
		stream.Add(noise.Identity{Offset: int64(i)}, zero)
		stream.Close()
		if facts.EachStep() {
			floats.Add(sum, stream.Sum(0))
		}
	}
	if !facts.EachStep() {
		copy(sum, stream.Sum(0))
	}
	return floats.Norm(sum, 2) / math.Sqrt(n)
}

// TestNaiveSumsGrowAsRoots compares the error of two mechanisms over time. From 63 to 4 095 steps, the error of a sum
// of released steps grows like √t, by a factor of 8. The error of a tree grows by a factor of √(13·13/(7·7)) = 1.86.
// Each ratio is within 6.11 standard errors, for two deviations of 256 numbers. Fresh noise on each prefix is as large
// as the noise of a sum of steps: T compositions divide µ by √T (Dong, Roth and Su, "Gaussian Differential Privacy",
// 2022, Corollary 3.3).
func TestNaiveSumsGrowAsRoots(t *testing.T) {
	spread := 6.11 * math.Sqrt(2.0/(2*256))
	for name, want := range map[string]float64{"once-gaussian": math.Sqrt(4095.0 / 63), "tree-gaussian": 13.0 / 7} {
		short, long := naive(t, name, 63, 1), naive(t, name, 4095, 1)
		t.Logf("%s: %.3g and %.3g, %.2f times, want %.2f", name, short, long, long/short, want)
		if got := long / short; math.Abs(got/want-1) > spread {
			t.Errorf("%s: %.3g after 63 steps, %.3g after 4 095: %.2f times, want %.2f", name, short, long, got, want)
		}
	}
	single := naive(t, "once-gaussian", 1, 1)
	if want := 2 / dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6}); math.Abs(single/want-1) > spread {
		t.Errorf("one step has deviation %g, want %g", single, want)
	}
}

// TestNoiseOnEachPrefix checks fresh noise on each of T prefixes, which share one budget. Pure noise grows like T,
// because each prefix has ε/T. Gaussian noise grows like √T, because each prefix has µ/√T. From 16 to 256 prefixes the
// factors are 16 and 4.
func TestNoiseOnEachPrefix(t *testing.T) {
	whole := dp.GaussianMu(dp.Budget{Epsilon: 1, Delta: 1e-6})
	each := map[string]func(prefixes float64) (epsilon float64){
		"once-gamma": func(prefixes float64) float64 { return 1 / prefixes },
		"once-gaussian": func(prefixes float64) float64 {
			low, high := 0.0, 1.0
			for range 60 { // bisection for the ε that corresponds to µ
				if middle := (low + high) / 2; dp.GaussianMu(dp.Budget{Epsilon: middle, Delta: 1e-6}) < whole/math.Sqrt(prefixes) {
					low = middle
				} else {
					high = middle
				}
			}
			return high
		},
	}
	for name, want := range map[string]float64{"once-gamma": 16, "once-gaussian": 4} {
		few, many := naive(t, name, 1, each[name](16)), naive(t, name, 1, each[name](256))
		t.Logf("%s: %.3g on each of 16 prefixes, %.3g on each of 256, %.2f times", name, few, many, many/few)
		if got := many / few; math.Abs(got/want-1) > 0.1 { // both runs use the same key, so the ratio hardly varies
			t.Errorf("%s: %.3g on each of 16 prefixes, %.3g on each of 256: %.2f times, want %g", name, few, many, got, want)
		}
	}
}
