package papers

import (
	"math"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"oriel/cmd/internal/registry"
	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/operators/convex"
)

// Operators lists the operators of oriel, extended by the rates that papers print.
var Operators = table()

func table() registry.Table {
	var t registry.Table
	for _, d := range registry.All {
		switch d.Name {
		case "submodular":
			t = append(t, d.WithChoices("RATE", "printed"))
		default:
			t = append(t, d)
		}
	}
	return t
}

// This file has the noise that papers print. It is larger than the noise that ε requires. An operator adds it at a
// smaller ε, which asPrinted finds: the ε that the printed noise really proves.

// asPrinted returns settings with the ε at which exact calibration adds a multiple of the noise. times is the multiple,
// at least 1, for the calibration at the ε of the list.
func asPrinted(list []string, times func(calibrated) float64) ([]string, error) {
	c, err := calibrate(list)
	if err != nil {
		return nil, err
	}
	budget, more := c.mechanism.Budget, max(1, times(c))
	facts, _ := mechanisms.FactsOf(c.mechanism.Name)
	switch facts.Law {
	case mechanisms.Gaussian:
		budget.Epsilon = dp.GaussianEpsilon(dp.GaussianMu(budget)/more, budget.Delta)
	case mechanisms.Gumbel: // the rate of draws rises with ε, by no formula
		low, high, rate := 0.0, budget.Epsilon, rateOf(c)
		for range 50 {
			budget.Epsilon = (low + high) / 2
			if c, err = calibrate(withEpsilon(list, budget.Epsilon)); err != nil {
				return nil, err
			}
			if rateOf(c)*more > rate {
				high = budget.Epsilon
			} else {
				low = budget.Epsilon
			}
		}
	default: // Laplace and Gamma noise is proportional to 1/ε
		budget.Epsilon /= more
	}
	return withEpsilon(list, budget.Epsilon), nil
}

// withEpsilon returns settings with another ε.
func withEpsilon(list []string, epsilon float64) []string {
	list = slices.Clone(list)
	at := slices.IndexFunc(list, func(line string) bool { return strings.HasPrefix(line, "ORIEL_EPSILON=") })
	list[at] = "ORIEL_EPSILON=" + number(epsilon)
	return list
}

// rateOf returns η of draws.
func rateOf(c calibrated) float64 { return c.private.DrawLaw(c.mechanism).Epsilon.Up() }

// scaleOf returns the scale of one draw of noise, in units of contributions.
func scaleOf(c calibrated) float64 {
	component := c.private.Component(0)
	return component.Scale.Float64() * component.Grid.Unit()
}

// printedWindow returns the deviation of a node of a Gaussian tree by (13) and (16) of the window paper:
// √8·G·h·ln(2/δ)/ε, with h levels, and with G = L' + µD in place of the sensitivity. L' is L, or L + µ·max|x| if the
// losses are not strongly convex themselves.
func printedWindow(t Task, set convex.Set, levels int, b dp.Budget) float64 {
	g := t.Clip + t.Convexity*set.Diameter()
	if !slices.Contains(t.Settings, "ORIEL_OWN_CONVEXITY=true") {
		g += t.Convexity * set.MaxNorm()
	}
	return math.Sqrt(8) * g * float64(levels) * math.Log(2/b.Delta) / b.Epsilon
}

// printedBandit returns the noise of PrivateBandit over T plays in n dimensions, for losses with the Lipschitz constant
// 1. For Laplace noise it is λ = √T·n·ln T/ε (Lemma 7 of the paper that operators/bandit/SPEC.md names). For Gaussian
// noise it is σ = T^¼·√n·ln T·ln(T/δ)·√((1 + √T/n)·ln((n+T)/δ))/ε (Lemma 10).
func printedBandit(law mechanisms.Law, n, plays float64, b dp.Budget) float64 {
	if law == mechanisms.Laplace {
		return math.Sqrt(plays) * n * math.Log(plays) / b.Epsilon
	}
	vectors := (1 + math.Sqrt(plays)/n) * math.Log((n+plays)/b.Delta)
	return math.Pow(
		plays,
		0.25,
	) * math.Sqrt(
		n,
	) * math.Log(
		plays,
	) * math.Log(
		plays/b.Delta,
	) * math.Sqrt(
		vectors,
	) / b.Epsilon
}

// printedMu returns the µ of a row of squared norm 2 under the noise of a tree over n steps, as Shariff and Sheffet
// print it, "Differentially Private Contextual Linear Bandits" (NeurIPS 2018), section 4. m = ⌈log₂ n⌉ + 1 nodes cover
// a prefix. Gaussian noise has the deviation σ = 4√m·2·ln(4/δ)/ε a node. Wishart noise has k = d + 1 +
// ⌈224m/ε²·ln(8m/δ)·ln(2/δ)⌉ degrees of freedom, and the variances of Gaussian noise with σ = 2√k.
func printedMu(wishart bool, n uint64, d float64, b dp.Budget) float64 {
	m := float64(bits.Len64(n-1) + 1)
	sigma := 4 * math.Sqrt(m) * 2 * math.Log(4/b.Delta) / b.Epsilon
	if wishart {
		k := d + 1 + math.Ceil(224*m/(b.Epsilon*b.Epsilon)*math.Log(8*m/b.Delta)*math.Log(2/b.Delta))
		sigma = 2 * math.Sqrt(k)
	}
	return 2 * math.Sqrt(m) / sigma
}

// These lines at the end of settings stand for noise as large as a paper prints it.
const (
	printedPlays    = "printed: PrivateBandit"
	printedGaussian = "printed: Gaussian"
	printedWishart  = "printed: Wishart"
	printedDraws    = "printed: BanditDP"
	directDraws     = "printed: BanditDP, B.1"
)

// printedNoise has the printed noise of each line, as a multiple of the exact noise.
var printedNoise = map[string]func(c calibrated) float64{
	printedPlays: func(c calibrated) float64 {
		facts, _ := mechanisms.FactsOf(c.mechanism.Name)
		n, plays := float64(c.mechanism.Dimension()), float64(c.mechanism.Scope.End()*c.mechanism.Batch)
		smoothing := math.Sqrt(n) / math.Pow(plays, 0.25)
		gain := n / smoothing * (1 + smoothing) / 2 // from contributions to losses, as banditOf sets their range
		return printedBandit(facts.Law, n, plays, c.mechanism.Budget) / gain / scaleOf(c)
	},
	printedGaussian: func(c calibrated) float64 { return printedRows(false, c.mechanism) },
	printedWishart:  func(c calibrated) float64 { return printedRows(true, c.mechanism) },
	// Fixed coins draw once more than they explore, before any event.
	printedDraws: func(c calibrated) float64 { return rateOf(c) / printedRate(c, 1+float64(c.mechanism.Draws.MaxDraws)) },
	directDraws:  func(c calibrated) float64 { return rateOf(c) / printedRate(c, float64(c.mechanism.Scope.End())) },
}

// printedRate returns η = ε/(k·√(32·T·ln(k/δ))) of the paper that operators/sets/SPEC.md names, for T draws of k
// elements each.
func printedRate(c calibrated, draws float64) float64 {
	k, b := float64(c.mechanism.Draws.K), c.mechanism.Budget
	return b.Epsilon / (k * math.Sqrt(32*draws*math.Log(k/b.Delta)))
}

func printedRows(wishart bool, m mechanisms.Config) float64 {
	return dp.GaussianMu(m.Budget) / printedMu(wishart, m.Scope.Span(), contextFeatures, m.Budget)
}

// TestPrintedNoise checks the printed formulas against values that were computed independently.
func TestPrintedNoise(t *testing.T) {
	b := dp.Budget{Epsilon: 1, Delta: 1e-6}
	near := func(what string, got, want, by float64) {
		t.Helper()
		if math.Abs(got/want-1) > by {
			t.Errorf("%s is %.9g, want %.9g", what, got, want)
		}
	}
	targets := Targets(8)
	set, _, err := targets.Open(1)
	if err != nil {
		t.Fatal(err)
	}
	near("σ of a window", printedWindow(targets, set, 8, b), 328.2935*2*math.Sqrt2, 1e-6)
	near("λ of PrivateBandit", printedBandit(mechanisms.Laplace, 4, 1e4, b), 3684.14, 1e-5)
	near("σ of PrivateBandit", printedBandit(mechanisms.Gaussian, 4, 1e4, b),
		10*2*math.Log(1e4)*math.Log(1e10)*math.Sqrt((1+100.0/4)*math.Log(10004/1e-6)), 1e-12)
	near("µ of Gaussian noise", printedMu(false, 1000, 5, b), 2*math.Sqrt(11)/403.3495, 1e-6)
	near("µ of Wishart noise", printedMu(true, 1000, 5, b), math.Sqrt(11.0/653964), 1e-12)
}

// TestPrintedNoiseIsDrawn checks that the settings of asPrinted have the multiple of the noise, for each law.
func TestPrintedNoiseIsDrawn(t *testing.T) {
	for _, list := range [][]string{
		banditOf("tree-laplace", 1)(0, 1000), banditOf("tree-gaussian", 1)(0, 1000), treeOf(0, 1000),
		hullOf("tree-gamma", 1)(0, 1000),
	} {
		exact, err := calibrate(list)
		if err != nil {
			t.Fatal(err)
		}
		for _, more := range []float64{0.5, 7} {
			louder, err := asPrinted(list, func(calibrated) float64 { return more })
			if err != nil {
				t.Fatal(err)
			}
			c, err := calibrate(louder)
			if err != nil {
				t.Fatal(err)
			}
			if got := scaleOf(c) / scaleOf(exact); math.Abs(got/max(1, more)-1) > 1e-6 {
				t.Errorf("%s: %g times the noise, want %g", c.mechanism.Name, got, max(1, more))
			}
		}
	}
}

// TestPrintedRatesOfDraws checks that the settings of explorersOf draw at the printed rates, and that the shares of
// explorations that the paper prints are 1 in runs as long as these: k·((16N·ln N)²/R)^⅓, the same with k², and
// (k³N·ln N·√(32·ln(k/δ))/ε)^½·R^−¼.
func TestPrintedRatesOfDraws(t *testing.T) {
	const k, n = float64(setPick), float64(setSites)
	for line, draws := range map[string]float64{printedDraws: 1001, directDraws: 1000} {
		for column, epsilon := range setBudgets {
			c, err := calibrate(explorersOf("ORIEL_SHARE=1", line)(column, 1000))
			if err != nil {
				t.Fatal(err)
			}
			if want := epsilon / (k * math.Sqrt(32*draws*math.Log(k*1e6))); math.Abs(rateOf(c)/want-1) > 1e-9 {
				t.Errorf("%s: η = %g, want %g", line, rateOf(c), want)
			}
		}
	}
	rounds := float64(sets.Steps)
	printed := k * math.Cbrt(256*n*math.Log(n)*n*math.Log(n)/rounds)
	direct := math.Sqrt(k * k * k * n * math.Log(n) * math.Sqrt(32*math.Log(k*1e6)) / math.Sqrt(rounds))
	if printed < 1 || direct < 1 {
		t.Errorf("shares %g and %g are below 1", printed, direct)
	}
}
