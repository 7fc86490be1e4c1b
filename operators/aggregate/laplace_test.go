package aggregate

import (
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/schemas/decision"
	"oriel/schemas/event"
)

func discrete(epsilon float64, batch uint64) mechanisms.Config {
	m := under("once-laplace", protection.PerStep{}, dp.ZeroOut, batch)
	m.Budget = dp.Budget{Epsilon: epsilon}
	return m
}

// looks plays steps of one event a cell and calls f with the numbers of each decision.
func looks(t *testing.T, c operator, m mechanisms.Config, steps int, value float64, f func([]operators.Estimate)) {
	t.Helper()
	if err := c.Require(&m, nil); err != nil {
		t.Fatal(err)
	}
	params, err := c.Params(m)
	if err != nil {
		t.Fatal(err)
	}
	machine, err := c.Open(params, mechtest.Open(t, m, [32]byte{5, byte(steps)}))
	if err != nil {
		t.Fatal(err)
	}
	cells, read := c.spec.cells(), c.Numbers().Read
	for step := range steps {
		for i := range int(m.Batch) {
			r := operators.Record{Event: event.Event{Numbers: []float64{float64(i%cells) + 0.5}, Weight: 1}}
			if c.spec.value != "" {
				r.Event.Numbers = append(r.Event.Numbers, value)
			}
			r.Identity.Offset = int64(step)*int64(m.Batch) + int64(i)
			machine.Add(r)
		}
		for _, d := range machine.Close(nil) {
			published := decision.Decision{Point: d.Point}
			for k, x := range c.Extras() {
				text, err := json.Marshal(d.Extras[k].Numbers)
				if err != nil {
					t.Fatal(err)
				}
				published.Extras = append(published.Extras, decision.ExtraMember{Name: x.Name, JSON: string(text)})
			}
			numbers, err := read(published)
			if err != nil {
				t.Fatal(err)
			}
			f(numbers)
		}
	}
}

// TestDiscreteCounts checks counts at ε = 1 under zero-out: whole numbers, with the standard deviation 1.357 and the
// interval [y − 3, y + 2]. It must cover in the share 1 − e^−3 of cases, within 5 standard errors. A noise that rounds
// continuous draws would cover 95.5 %.
func TestDiscreteCounts(t *testing.T) {
	const cells = 1000
	steps := tiertest.Runs(100, 400)
	c, m := config(t, discrete(1, cells), "CELLS=x=0:1000:1000")
	hits, square, all := 0.0, 0.0, 0.0
	looks(t, c, m, steps, 0, func(numbers []operators.Estimate) {
		for _, x := range numbers {
			if x.Value != math.Trunc(x.Value) || x.Low != x.Value-3 || x.High != x.Value+2 || !x.Shown {
				t.Fatalf("%+v", x)
			}
			all, square = all+1, square+(x.Value-1)*(x.Value-1)
			if x.Low <= 1 && 1 <= x.High {
				hits++
			}
		}
	})
	exact := 1 - math.Exp(-3)
	if away := 5 * math.Sqrt(exact*(1-exact)/all); math.Abs(hits/all-exact) > away || all != float64(cells*steps) {
		t.Errorf("covers %.5f of %g, exactly %.5f ± %.5f", hits/all, all, exact, away)
	}
	q := math.Exp(-1)
	variance, fourth := 2*q/math.Pow(1-q, 2), 2*q*(1+10*q+q*q)/math.Pow(1-q, 4)
	if away := 5 * math.Sqrt((fourth-variance*variance)/all); math.Abs(square/all-variance) > away ||
		math.Abs(math.Sqrt(variance)-1.357) > 5e-4 {
		t.Errorf("variance %.4f, want %.4f ± %.4f", square/all, variance, away)
	}
}

// TestDiscreteStatisticsCover checks the intervals of counts, sums, means, variances and quantiles in one release, with
// weights that share ε. Those of counts and sums must cover within 5 standard errors of the exact share, and those of
// ratios that are shown from 94 to 97 %. Counts must be whole numbers whatever their weight.
func TestDiscreteStatisticsCover(t *testing.T) {
	const cells = 4
	steps := tiertest.Runs(250, 4000)
	for _, lines := range []string{
		"STATISTICS=count,sum", "STATISTICS=count*0.3,sum", "STATISTICS=count*3,mean,variance", "STATISTICS=count,mean,p50",
	} {
		bins := "BINS=64"
		if strings.Contains(lines, "p50") {
			bins = "BINS=16"
		}
		c, m := config(t, discrete(12, 2000), "CELLS=x=0:4:4", "VALUE=v=-60:180", bins, lines)
		hits, all := map[string]float64{}, map[string]float64{}
		each := float64(m.Batch) / cells
		truth := map[string]float64{"count": each, "sum": 75 * each, "mean": 75, "variance": 0, "p50": 75}
		looks(t, c, m, steps, 75, func(numbers []operators.Estimate) {
			for k, name := range c.spec.statistics {
				for _, x := range numbers[k*cells:][:cells] {
					if name == "count" && x.Value != math.Trunc(x.Value) {
						t.Fatalf("%s: a count of %g", lines, x.Value)
					}
					if x.Shown {
						all[name]++
						if x.Low <= truth[name]+1e-9 && truth[name] <= x.High+1e-9 {
							hits[name]++
						}
					}
				}
			}
		})
		for name, n := range all {
			share, away := hits[name]/n, 5*math.Sqrt(0.05*0.95/n)
			if share < 0.95-away || name == "sum" && share > 0.95+away || n == 0 {
				t.Errorf("%s: %s covers %.4f of %g", lines, name, share, n)
			}
			t.Logf("%s: %s covers %.4f of %g", lines, name, share, n)
		}
	}
}

// TestDiscreteWeightsStay checks that the weight of counts, moved to the lattice, does not move again, so that a
// configuration that is read back has the same contributions.
func TestDiscreteWeightsStay(t *testing.T) {
	for _, weight := range []string{"0.001", "0.3", "1", "7.77", "1000"} {
		c, _ := config(t, discrete(1, 10), "CELLS=x=0:4:4", "VALUE=v=0:1", "STATISTICS=count*"+weight+",sum*0.7")
		again := c.spec
		facts, _ := mechanisms.FactsOf("once-laplace")
		if again.under(facts); again.weights != c.spec.weights {
			t.Errorf("weight %s: %+v, then %+v", weight, c.spec.weights, again.weights)
		}
	}
}

// TestStatisticsShareEpsilon adds up the losses of all columns of an event, |contribution|/scale in exact fractions,
// for several statistics with weights. No event may lose more than ε, and one loses it but for a millionth: the weights
// of the columns share ε, and leave none of it.
func TestStatisticsShareEpsilon(t *testing.T) {
	for _, lines := range [][]string{
		{"STATISTICS=count"},
		{"STATISTICS=count*7.77,sum*0.3", "VALUE=v=-1:2"},
		{"STATISTICS=count,sum,mean", "VALUE=v=0:1"},
		{"STATISTICS=count*0.001,mean*3,variance*5", "VALUE=v=-60:180"},
		{"STATISTICS=count,mean,variance*2,p50*0.7,p90*0.7", "VALUE=v=-60:180", "BINS=12"},
		{"STATISTICS=p99", "VALUE=v=0:1", "BINS=5"},
		{"STATISTICS=count*2,sum,p50", "VALUE=v=0:1", "BINS=3", "WEIGHT_MAX=2.5"},
	} {
		for _, epsilon := range []float64{0.1, 1, 3} {
			c, m := config(t, discrete(epsilon, 10), append([]string{"CELLS=x=0:4:4"}, lines...)...)
			if err := c.Require(&m, nil); err != nil {
				t.Fatal(err)
			}
			p, err := mechanisms.Calibrate(m)
			if err != nil {
				t.Fatal(err)
			}
			of := p.Component(0)
			scale := new(big.Rat).SetInt(new(big.Int).SetUint64(of.Scale.Mant))
			power := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1), uint(max(of.Scale.Exp, -of.Scale.Exp))))
			if of.Scale.Exp < 0 {
				power.Inv(power)
			}
			scale.Mul(scale, power)
			quantiser, most := c.spec.hot(), new(big.Rat)
			for i := range 401 {
				n := make([]int64, quantiser.Size())
				quantiser.Quantise(of.Grid, n, []float64{1, float64(i-200) / 190, 9})
				sum := new(big.Int)
				for _, x := range n {
					sum.Add(sum, big.NewInt(max(x, -x)))
				}
				if loss := new(big.Rat).Quo(new(big.Rat).SetInt(sum), scale); loss.Cmp(most) > 0 {
					most = loss
				}
			}
			limit := new(big.Rat).SetFloat64(epsilon)
			least := new(big.Rat).Mul(limit, big.NewRat(999999, 1000000))
			if most.Cmp(limit) > 0 || most.Cmp(least) < 0 {
				t.Errorf("%s, ε = %g: an event loses %s", lines, epsilon, most.FloatString(12))
			}
		}
	}
}

// TestDiscreteBinsAreWhole checks that once-laplace releases each bin as a whole number with a distance of 1, and
// that a plan for once-gaussian over the same settings has the columns of a tree again.
func TestDiscreteBinsAreWhole(t *testing.T) {
	c, m := config(t, discrete(1, 10), "CELLS=x=0:4:4", "VALUE=v=0:1", "STATISTICS=p50", "BINS=32")
	for name, want := range map[string]float64{"once-laplace": 1, "once-gaussian": 1.4721} {
		m.Name = name
		if err := c.Require(&m, nil); err != nil {
			t.Fatal(err)
		}
		part := m.Contribution.Components[0]
		if math.Abs(part.Clip-want) > 1e-3 {
			t.Errorf("%s: a contribution of length %g, want %g", name, part.Clip, want)
		}
	}
	if !c.spec.weights.Histogram || !c.spec.whole() {
		t.Errorf("%+v", c.spec.weights)
	}
}
