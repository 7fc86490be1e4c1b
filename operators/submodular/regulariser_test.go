package submodular

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
	"oriel/operators/optest"
	"oriel/schemas/event"
)

// TestRegulariserFollowsTheNoise checks that H and C follow from N, p and the noise law of the mechanism. For Gaussian
// noise they use its largest deviation, not that of the first step, and for Laplace and Γ noise the scale of a draw.
func TestRegulariserFollowsTheNoise(t *testing.T) {
	const n = 6.0
	deviation := func(m mechanisms.Config) float64 {
		d, err := mechtest.Open(t, m, [32]byte{}).Deviation(0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if d.Worst() < 1.2*d.At(1) {
			t.Errorf("%s: the deviation is %g at first and %g at most: one would do for the other", m.Name, d.At(1), d.Worst())
		}
		return d.Worst()
	}
	scale := func(m mechanisms.Config) float64 {
		p, err := mechanisms.Calibrate(m)
		if err != nil {
			t.Fatal(err)
		}
		return p.Scale.Float64() * p.Grid.Unit()
	}
	one, two := 1-1/n, 2-4/n // the value of a for p = 1 and p = 2
	wide := func(p float64) float64 { return p * math.Sqrt(2*math.Log(n/p)) }
	for _, x := range []struct {
		m      mechanisms.Config
		lines  []string
		h      float64
		relief func(m mechanisms.Config) float64
	}{
		{optest.Life(64), []string{"RULE=leaders"}, math.Sqrt(5 / one), func(m mechanisms.Config) float64 {
			return 20 * deviation(m) / wide(1)
		}},
		{
			optest.Window("blt"),
			[]string{"RULE=shares", "RATE=bounded"},
			math.Sqrt(3 * 5 / two),
			func(m mechanisms.Config) float64 { return 20 * deviation(m) / wide(2) },
		},
		{optest.Window("tree-gaussian"), []string{"RULE=leaders"}, math.Sqrt(5 / one), func(m mechanisms.Config) float64 {
			return 20 * deviation(m) / wide(1)
		}},
		{
			optest.Window("tree-laplace"),
			[]string{"RULE=shares", "VALUES_NORM=1"},
			math.Sqrt(2 / two),
			func(m mechanisms.Config) float64 { return 8 * scale(m) / 2 },
		},
		{optest.Window("tree-gamma"), []string{"RULE=leaders"}, math.Sqrt(5 / one), func(m mechanisms.Config) float64 {
			return 20 * scale(m) / math.Sqrt(one)
		}},
	} {
		_, m, p := config(t, x.m, append(x.lines, "PICK=2", "ELEMENTS=6", "EMIT_EVERY=3")...)
		r, want := p.regulariser, x.relief(m)
		if math.Abs(r.strength/x.h-1) > 1e-12 || math.Abs(r.relief/want-1) > 1e-12 || r.printed {
			t.Errorf("%s, %v: %+v, want H = %g and C = %g", m.Name, x.lines, r, x.h, want)
		}
		for _, n := range []float64{1, 16, 1e4, 1e9} {
			if want := max(1, x.h*math.Sqrt(n)-want); math.Abs(r.at(n)/want-1) > 1e-9 {
				t.Errorf("%s, %v: Λ = %g after %g events, want %g", m.Name, x.lines, r.at(n), n, want)
			}
		}
	}
	_, m, p := config(t, optest.Window("tree-laplace"), "RULE=leaders", "RATE=bounded", "PICK=2", "ELEMENTS=6",
		"EMIT_EVERY=3")
	worst := math.Sqrt2 * scale(m) * math.Sqrt(float64(levels(t, m)))
	if want := math.Sqrt((15 + 12*worst) / one); math.Abs(p.strength/want-1) > 1e-12 || p.relief != 0 {
		t.Errorf("bounded, over a tree: %+v, want H = %g alone", p.regulariser, want)
	}
}

func levels(t *testing.T, m mechanisms.Config) uint8 {
	t.Helper()
	p, err := mechanisms.Calibrate(m)
	if err != nil {
		t.Fatal(err)
	}
	return p.Levels
}

// TestPointsAreSteady checks Lemma 1 of PROOF.md: an event's gains change a point by at most the bound of the
// regulariser. Without a regulariser, they change the expected point by at most the bound of the noise law.
func TestPointsAreSteady(t *testing.T) {
	const n, draws = 6, 4000
	rng := rand.New(rand.NewPCG(1, 5))
	for _, c := range []operator{
		{rule: byLeaders, pick: 3, elements: n},
		{rule: byShares, pick: 2, elements: n},
		{rule: byShares, pick: 5, elements: n},
		{rule: byShares, pick: 2, elements: n, norm: 1},
	} {
		x, taken := c.expert(), 1
		if c.rule == byShares {
			taken = c.pick
		}
		set, err := catalogue.Parse(catalogue.Spec{Name: "subsets", Dimension: n, Radius: 1, Pick: taken})
		if err != nil {
			t.Fatal(err)
		}
		to, err := convex.NewProjection(set)
		if err != nil {
			t.Fatal(err)
		}
		point := func(sums []float64, lambda float64) []float64 {
			at, scaled := make([]float64, n), make([]float64, n)
			for a, g := range sums {
				scaled[a] = g / lambda
			}
			to.Project(at, scaled)
			return at
		}
		potential := func(sums []float64, lambda float64) (value float64) {
			for a, v := range point(sums, lambda) {
				value += sums[a]*v - lambda/2*v*v
			}
			return value
		}
		most := 0.0
		for range draws {
			lambda, length := math.Exp(2*rng.Float64()), 0.0
			before, after, g := make([]float64, n), make([]float64, n), make([]float64, n)
			for a := range before {
				before[a], g[a] = 2*rng.NormFloat64(), float64(rng.IntN(2))
				length += g[a]
			}
			for a := range g {
				if c.norm > 0 && length > 0 {
					g[a] /= math.Sqrt(length)
				}
				after[a] = before[a] + g[a]
			}
			moved := potential(after, lambda) - potential(before, lambda)
			for a, v := range point(before, lambda) {
				moved -= g[a] * v
			}
			most = max(most, moved/(x.bend/(4*lambda)))
		}
		if most > 1+1e-9 || most < 0.3 {
			t.Errorf("%+v: a point moves by %g of what it may", c, most)
		}
		for _, law := range []mechanisms.Law{mechanisms.Gaussian, mechanisms.Laplace, mechanisms.Gamma} {
			moved := 0.0 // E⟨x, −∇ln density⟩, in units of 1/scale
			for range draws {
				z, slope, norm := make([]float64, n), make([]float64, n), 0.0
				for a := range z {
					z[a] = rng.NormFloat64()
					norm += z[a] * z[a]
				}
				for a := range z {
					switch law {
					case mechanisms.Laplace:
						z[a] = math.Copysign(rng.ExpFloat64(), z[a])
						slope[a] = math.Copysign(1, z[a])
					case mechanisms.Gamma: // only the direction of the noise matters
						slope[a] = z[a] / math.Sqrt(norm)
					default:
						slope[a] = z[a]
					}
				}
				for a, v := range point(z, 1e-3) {
					moved += (v - float64(taken)/n) * slope[a] / draws
				}
			}
			// The test takes the mean of draws of absolute value at most √(6a), with 6.11 standard errors; it fails by
			// chance once in 10⁹.
			limit := noiseLaw{law: law, node: 1}.smoothing(x, 1)
			if off := 6.11 * math.Sqrt(n*x.spread/draws); moved > limit+off || moved < 0.3*limit-off {
				t.Errorf("%+v, law %d: moves by %g, at most %g", c, law, moved, limit)
			}
		}
	}
}

// TestExpertsAreWithinTheirBound checks Theorem 1 of PROOF.md. In the mean over keys, positions must miss no more gain,
// compared with the best element, than the plan states. It covers gains that change adversarially, and gains that do
// not change. The missed gain must also be close to the bound.
func TestExpertsAreWithinTheirBound(t *testing.T) {
	const events, elements = 512, 4
	keys := tiertest.Runs(byte(2), 8)
	for _, x := range []struct {
		m     mechanisms.Config
		lines []string
	}{
		{lifetime(events, 1), []string{"EMIT_EVERY=1", "RATE=bounded"}},
		{lifetime(events, 1), []string{"EMIT_EVERY=4", "RATE=bounded"}},
		{lifetime(events, 1000), []string{"EMIT_EVERY=1", "RATE=bounded"}},
		{optest.Window("tree-laplace"), []string{"EMIT_EVERY=1", "RATE=bounded"}},
		{optest.Window("tree-gamma"), []string{"EMIT_EVERY=1", "RATE=printed"}},
	} {
		if x.m.Name == mechanisms.ExponentialMechanism {
			x.m.Name, x.m.Budget.Delta = "blt", 1e-6
		} else {
			x.m.Scope, x.m.Budget.Epsilon = pure(events, 1).Scope, 20_000
		}
		c, m, p := config(t, x.m, append(x.lines, "RULE=leaders", "PICK=2", "ELEMENTS=4", "FUNCTION=modular")...)
		law, err := noiseLawOf(m)
		if err != nil {
			t.Fatal(err)
		}
		bound := c.expertRegret(m, law, p.regulariser)
		text := c.Describe(m).Steps
		if bound > 0.6*events || !strings.Contains(text, "lack at most") || !strings.Contains(text, "H = ") {
			t.Errorf("%s, %v: a bound of %g; plan says %q", m.Name, x.lines, bound, text)
		}
		for world, gain := range map[string]func(t, a int) float64{
			"turns": func(t, a int) float64 { return float64((t/64 + a) % 2) },
			"gap":   func(t, a int) float64 { return float64((7*t+a)%10) / 20 * float64(1+a%2) },
		} {
			missed := [2]float64{}
			for key := range keys {
				machine, err := newMachine(c, p, mechtest.Open(t, m, [32]byte{key, 7}))
				if err != nil {
					t.Fatal(err)
				}
				counted := operators.ByCount(machine)
				sums, had := [2][elements]float64{}, [2]float64{}
				for i := range events {
					v := make([]float64, elements)
					for a := range v {
						v[a] = gain(i, a)
					}
					for at, element := range machine.set {
						for a := range v {
							if !slices.Contains(machine.set[:at], a) {
								sums[at][a] += v[a]
							}
						}
						had[at] += v[element]
					}
					e := event.Event{Vector: event.Vector{Values: v}}
					counted.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}})
				}
				for at := range missed {
					missed[at] += (slices.Max(sums[at][:]) - had[at]) / float64(keys)
				}
			}
			t.Logf("%s, %v, %s: %.0f missed, at most %.0f", m.Name, x.lines, world, missed, bound)
			if max(missed[0], missed[1]) > bound {
				t.Errorf("%s, %v, %s: %g is missed, at most %g", m.Name, x.lines, world, missed, bound)
			}
		}
	}
}

// TestPlanNamesGainsBelowTheNoise checks that for argmax the plan states how large a lead of the best element the noise
// hides, and that this lead grows with the set.
func TestPlanNamesGainsBelowTheNoise(t *testing.T) {
	last := 0.0
	for _, pick := range []string{"2", "8"} {
		c, m, _ := config(t, optest.Life(4096), "RULE=argmax", "PICK="+pick, "ELEMENTS=30")
		_, text, found := strings.Cut(c.Describe(m).Steps, "drowns a lead of ")
		var lead float64
		if _, err := fmt.Sscan(text, &lead); err != nil || !found || lead < 1.5*last {
			t.Errorf("%s of 30: a lead of %g, after %g; plan says %q", pick, lead, last, c.Describe(m).Steps)
		}
		last = lead
	}
}

// TestStrengthOfThePrintedRate compares the printed strength with the source's formula at the ε of one leader: k
// leaders, or K copies, share ε, so that each has ε/√k. For large ε it is the strength without privacy, L/(R·√T).
func TestStrengthOfThePrintedRate(t *testing.T) {
	const elements, events, norm = 9, 5000, 3.0
	far := math.Sqrt2 * norm / 2 // L
	for _, c := range []struct {
		rule         string
		pick, copies int
		epsilon      float64
		sharers      float64 // number of leaders or copies that share ε; 0 if noise does not matter
	}{
		{byLeaders, 1, 0, 1, 1},
		{byLeaders, 4, 0, 1, 4},
		{byShares, 4, 6, 0.5, 6},
		{byLeaders, 4, 0, 1e9, 0},
	} {
		m := lifetime(events, 1)
		m.Budget.Epsilon = c.epsilon
		radius := 1.0
		if c.rule == byShares {
			radius = math.Sqrt(float64(c.pick))
		}
		want := far / (radius * math.Sqrt(events))
		if c.sharers > 0 {
			each := c.epsilon / math.Sqrt(c.sharers)
			want = far / radius * math.Sqrt(elements*math.Pow(math.Log(events), 2.5)/(each*events))
		}
		o := operator{rule: c.rule, pick: c.pick, copies: c.copies, elements: elements, norm: norm}
		if got := o.strength(m); math.Abs(got/want-1) > 1e-9 {
			t.Errorf("%s, %d elements picked: strength %g, want %g", c.rule, c.pick, got, want)
		}
	}
}
