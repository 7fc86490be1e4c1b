package plan

import (
	"errors"
	"math"
	"math/bits"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/blt"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/description"
	"oriel/schemas/decision"
)

// The reference models compute every figure by another route, in plain float64.

// deltaOf returns δ(ε) of µ-GDP.
func deltaOf(epsilon, mu float64) float64 {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	return phi(-epsilon/mu+mu/2) - math.Exp(epsilon)*phi(-epsilon/mu-mu/2)
}

// epsilonOf returns ε and muOf returns µ, the inverses of deltaOf.
func epsilonOf(mu, delta float64) float64 {
	low, high := 0.0, 700.0
	for range 200 {
		if middle := (low + high) / 2; deltaOf(middle, mu) > delta {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

func muOf(epsilon, delta float64) float64 {
	low, high := 0.0, 100.0
	for range 200 {
		if middle := (low + high) / 2; deltaOf(epsilon, middle) > delta {
			high = middle
		} else {
			low = middle
		}
	}
	return low
}

// series returns b_0 … and d_0 … of a filter, from Σ_{j≤t} b_j·d_{t−j} = 1.
func series(f blt.Filter, terms int) (b, d []float64) {
	b, d = make([]float64, terms), make([]float64, terms)
	var power, past, pole, residue [blt.MaxPoles]float64
	for k := range f.Count {
		power[k], pole[k], residue[k] = 1, float64(f.Poles[k])/(1<<30), float64(f.Residues[k])/(1<<30)
	}
	const nothing = 1e-200 // its square is 0, and arithmetic with much smaller numbers is slow
	for j := range terms {
		b[j], d[j] = 0, 1
		for k := range f.Count {
			if j > 0 {
				b[j] += residue[k] * power[k]
				if power[k] *= pole[k]; power[k] < nothing {
					power[k] = 0
				}
			}
			d[j] -= residue[k] * past[k]
		}
		if j == 0 {
			b[0] = 1
		}
		for k := range f.Count {
			past[k] = pole[k]*past[k] + d[j]
		}
	}
	return b, d
}

func squares(x []float64) float64 {
	sum := 0.0
	for _, y := range x {
		sum += y * y
	}
	return sum
}

// optimum returns S_W² from its definition.
func optimum(window uint64) float64 {
	sum, r := 0.0, 1.0
	for j := range window {
		sum += r * r
		r *= float64(2*j+1) / float64(2*j+2)
	}
	return sum * sum
}

// configured is a case of these tests.
type configured struct {
	name   string
	change func(*Input)
}

// everySetting has every mechanism as the configured one, each with every kind of window.
var everySetting = []configured{
	{"blt", func(*Input) {}},
	{"tree", func(in *Input) { in.Configured.Name, in.Configured.AgeWeight = "tree-gaussian", 0 }},
	{"gamma", func(in *Input) {
		in.Configured.Name, in.Configured.AgeWeight, in.Configured.Budget.Delta, in.Configured.Batch = "tree-gamma", 0, 0, 10
	}},
	{"zero-out", func(in *Input) {
		in.Configured.Unit = protection.Event{Exchange: dp.ZeroOut}
		in.Configured.Contribution = contribution.OneComponent(in.Configured.Dimension(), 2.5)
	}},
	{"odd window", func(in *Input) { in.Configured.Scope, in.Rate, in.Age = protection.Window{Steps: 1000}, 3, 7 }},
	{"one step", func(in *Input) {
		in.Configured.Scope, in.Configured.Contribution = protection.Window{Steps: 1}, contribution.OneComponent(
			1, in.Configured.Clip(),
		)
	}},
	{"two poles", func(in *Input) { in.Configured.Poles, in.Configured.Budget.Epsilon = 2, 5 }},
	{"users", func(in *Input) {
		in.Configured.Unit, in.Rate, in.Age = protection.User{Exchange: dp.Replace, Separation: 100}, 0.01, 50_000
	}},
	{"horizon", func(in *Input) { in.Configured.Scope, in.Rate = protection.Lifetime{Steps: 1000, Within: 1000}, 1 }},
	{"horizon of a tree", func(in *Input) {
		in.Configured.Name, in.Configured.AgeWeight = "tree-laplace", 0
		in.Configured.Scope = protection.Lifetime{Steps: 700, Within: 1024}
	}},
	{"once", func(in *Input) {
		in.Configured.Name, in.Configured.AgeWeight, in.Rate = "once-gaussian", 0, 1
		in.Configured.Scope = protection.PerStep{}
	}},
}

// learner is an operator with the given description.
type learner struct{ description.Figures }

func (learner) Extras() []decision.Extra { return nil }

func (learner) Params(mechanisms.Config) ([]byte, error) { return nil, nil }

func (learner) Open([]byte, *mechanisms.Stream) (operators.Machine, error) {
	return nil, errors.New("not an operator that runs")
}

func (learner) Require(*mechanisms.Config, []byte) error { return nil }

func (l learner) Describe(mechanisms.Config) description.Figures { return l.Figures }

func (s configured) input() Input {
	in := Input{
		Configured: mechanisms.Config{
			Name: "blt", Batch: 1,
			Terms:        protection.Terms{Scope: protection.Window{Steps: 1024}, Unit: protection.Event{Exchange: dp.Replace}},
			Contribution: contribution.OneComponent(27, 1), Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}, AgeWeight: 0.3,
		},
		Operator:  learner{},
		AgeWeight: 0.3,
	}
	s.change(&in)
	return in
}

// reports caches the results of report; tests only read it.
var reports = map[string]*Report{}

func (s configured) report() (*Report, error) {
	if r := reports[s.name]; r != nil {
		return r, nil
	}
	r, err := New(s.input())
	reports[s.name] = r
	return r, err
}

// each runs a test for every setting.
func each(t *testing.T, test func(t *testing.T, in Input, r *Report)) {
	for _, s := range everySetting {
		t.Run(s.name, func(t *testing.T) {
			r, err := s.report()
			if err != nil {
				t.Fatal(err)
			}
			test(t, s.input(), r)
		})
	}
}

// near fails the test unless got equals want within a relative tolerance.
func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance*math.Abs(want)) && got != want {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}

// active counts the nodes of a release: the one bits of the place in the current block, and the one bits of the rest of
// the previous block.
func active(step, window uint64) int {
	block, place := (step-1)/window, (step-1)%window+1
	nodes := bits.OnesCount64(place)
	if block > 0 {
		nodes += bits.OnesCount64(window - place)
	}
	return nodes
}
