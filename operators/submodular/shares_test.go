package submodular

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/noise"
	"oriel/operators"
	"oriel/schemas/event"
)

// expected returns the expected value of a random set that contains each element with its probability, by enumerating
// all sets.
func expected(value func(set []int) float64, x []float64) (mean float64) {
	for which := range 1 << len(x) {
		chance, set := 1.0, []int(nil)
		for a, p := range x {
			if which>>a&1 == 1 {
				chance *= p
				set = append(set, a)
			} else {
				chance *= 1 - p
			}
		}
		mean += chance * value(set)
	}
	return mean
}

// TestExtensionsToProbabilities checks that the extension to probabilities is the expectation over all sets, and that
// its gradient is the expected gain of an element. Gradients must decrease: no coordinate of the gradient is larger at
// a larger point, and along a direction of sum k the gradient falls by at most k² per unit of length.
func TestExtensionsToProbabilities(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 33))
	for f := range saturating {
		c := operator{function: f, elements: 5, pick: 2, rule: byShares}
		s, err := newShares(eventReader{operator: c}, params{copies: 1}, []int{0, 1})
		if err != nil {
			t.Fatal(err)
		}
		model := &reference{operator: c}
		for range 100 {
			x, v, up := make([]float64, 5), make([]float64, 5), make([]float64, 5)
			for a := range x {
				x[a], v[a] = rng.Float64(), float64(rng.IntN(4))/3
				up[a] = x[a] + (1-x[a])*rng.Float64()
			}
			value := func(set []int) float64 { return model.value(v, set) }
			if got, want := c.extension(x, v), expected(value, x); math.Abs(got-want) > 1e-12 {
				t.Fatalf("%s: %g, want %g", functions[f], got, want)
			}
			gradient := func(at []float64) []float64 {
				copy(s.prefix, at)
				dst := make([]float64, 5)
				for a := range s.order {
					s.order[a] = a
				}
				slices.SortStableFunc(s.order, func(a, b int) int { return map[bool]int{true: -1, false: 1}[v[a] > v[b]] })
				s.gradient(dst, v, f)
				return dst
			}
			low, high, drop, length := gradient(x), gradient(up), 0.0, 0.0
			for a := range x {
				with, without := slices.Clone(x), slices.Clone(x)
				with[a], without[a] = 1, 0
				want := model.scale() * (expected(value, with) - expected(value, without))
				if math.Abs(low[a]-want) > 1e-12 {
					t.Fatalf("%s: the gradient at %d is %g, want %g", functions[f], a, low[a], want)
				}
				if high[a] > low[a]+1e-12 || low[a] < 0 || low[a] > 1+1e-12 {
					t.Fatalf("%s: the gradient at %d rises from %g to %g", functions[f], a, low[a], high[a])
				}
				drop += (low[a] - high[a]) * (up[a] - x[a])
				length += up[a] - x[a]
			}
			if drop > length*length+1e-12 {
				t.Fatalf("%s: falls by %g along a direction of sum %g", functions[f], drop, length)
			}
		}
	}
}

// TestQuadraticAtShares checks the extension of quadratic, which is the function itself. It must be 1 if all values are
// 1 and the shares add up to k, and equal a set's value at the set's vertex. Its gradients must equal finite
// differences, which are exact, and decrease by at most 2 along a direction of sum k.
func TestQuadraticAtShares(t *testing.T) {
	const k = 2
	rng, c := rand.New(rand.NewPCG(4, 33)), operator{function: quadratic, elements: 5, pick: k, rule: byShares}
	s, err := newShares(eventReader{operator: c}, params{copies: 1}, []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := c.extension([]float64{0.5, 0.5, 0.25, 0.5, 0.25}, []float64{1, 1, 1, 1, 1}); math.Abs(got-1) > 1e-12 {
		t.Errorf("all shares of a full budget are worth %g", got)
	}
	slopes := func(x, v []float64) []float64 {
		copy(s.prefix, x)
		dst := make([]float64, 5)
		s.gradient(dst, v, quadratic)
		return dst
	}
	for range 100 {
		x, v, up, sum := make([]float64, 5), make([]float64, 5), make([]float64, 5), 0.0
		for a := range x {
			x[a], v[a], up[a] = rng.Float64(), rng.Float64(), rng.Float64()
			sum += up[a] + x[a]
		}
		for a := range x {
			x[a] *= k / sum
			up[a] = x[a] + up[a]*k/sum
		}
		low, high, drop := slopes(x, v), slopes(up, v), 0.0
		for a := range x {
			more, less := slices.Clone(x), slices.Clone(x)
			more[a] += 0.01
			less[a] -= 0.01
			if want := k / 2.0 * (c.extension(more, v) - c.extension(less, v)) / 0.02; math.Abs(low[a]-want) > 1e-12 {
				t.Fatalf("the slope at %d is %g, want %g", a, low[a], want)
			}
			if high[a] > low[a] || high[a] < -1e-12 || low[a] > 1 {
				t.Fatalf("the slope at %d goes from %g to %g", a, low[a], high[a])
			}
			drop += 2.0 / k * (low[a] - high[a]) * (up[a] - x[a])
		}
		if drop > 2+1e-12 {
			t.Fatalf("slopes fall by %g", drop)
		}
		for a := range x {
			x[a] = map[bool]float64{true: 1}[a < k]
		}
		model := &reference{operator: c}
		if got, want := c.extension(x, v), model.value(v, []int{0, 1}); math.Abs(got-want) > 1e-12 {
			t.Fatalf("at a vertex %g, the set %g", got, want)
		}
	}
}

// TestSharesAreWithinTheirBound checks Lemma 7 of the source paper for shares: (1 − 1/e)·best minus their value is at
// most (1/K)·Σ r + k²T/(2K). Here r is the gain that a copy missed, compared with the best point for its gradients.
// Points must be in the set, and their mean must be published. Over 8 192 events their value must be nine tenths of the
// best set's value at ε = 10⁴, and at ε = 1 more than the value of equal shares.
func TestSharesAreWithinTheirBound(t *testing.T) {
	const events, elements, pick = 8192, 6, 2
	rng := rand.New(rand.NewPCG(9, 99))
	all := make([][]float64, events)
	for i := range all {
		all[i] = make([]float64, elements)
		for a := range all[i] {
			all[i][a] = rng.Float64() * []float64{0.1, 0.9, 0.2, 0.8, 0.1, 0.3}[a]
		}
	}
	for _, f := range []function{facility, probabilistic, quadratic} {
		best, even := 0.0, 0.0
		for a := range elements {
			for b := range a {
				sum := 0.0
				for _, v := range all {
					sum += f.with(v[a], v[b], pick)
				}
				best = max(best, sum)
			}
		}
		c := operator{function: f, elements: elements, pick: pick, rule: byShares}
		for _, v := range all {
			even += c.extension(slices.Repeat([]float64{float64(pick) / elements}, elements), v)
		}
		for _, row := range []struct {
			epsilon float64
			least   float64
		}{{1, 1.02 * even}, {1e4, 0.9 * best}} {
			c, m, p := config(t, pure(events, row.epsilon), "RULE=shares", "PICK=2", "ELEMENTS=6", "FUNCTION="+functions[f],
				"EMIT_EVERY=8", "COPIES=4")
			c.published = true
			machine, err := newMachine(c, p, mechtest.Open(t, m, [32]byte{4}))
			if err != nil {
				t.Fatal(err)
			}
			counted := operators.ByCount(machine)
			x, value := c.Score().Start, 0.0
			gained, sums := make([]float64, p.copies), make([]float64, p.copies*elements)
			gradient := make([]float64, p.copies*elements)
			for i, v := range all {
				value += c.extension(x, v)
				machine.rule.(*continuousRule).gradients(gradient, v, f)
				for k, g := range gradient {
					g += 0.5
					sums[k] += g
					gained[k/elements] += g * machine.rule.(*continuousRule).points[k]
				}
				e := event.Event{Vector: event.Vector{Values: v}}
				for _, d := range counted.Add(nil, operators.Record{Event: e, Identity: noise.Identity{Offset: int64(i)}}) {
					x = slices.Clone(d.Point)
					mean, total := 0.0, 0.0
					for a := range x {
						mean = 0
						for k := range p.copies {
							mean += d.Extras[0].Numbers[k*elements+a] / float64(p.copies)
						}
						total += x[a]
						if math.Abs(mean-x[a]) > 1e-9 || x[a] < 0 || x[a] > 1 {
							t.Fatalf("%v is published of points %v", x, d.Extras[0].Numbers)
						}
					}
					if math.Abs(total-pick) > 1e-6 {
						t.Fatalf("%v adds up to %g", x, total)
					}
				}
			}
			bound := float64(pick*pick) * events / (2 * float64(p.copies))
			for k := range p.copies {
				of := slices.Clone(sums[k*elements:][:elements])
				slices.Sort(of)
				bound += (of[elements-1] + of[elements-2] - gained[k]) / float64(p.copies)
			}
			regret := (1-1/math.E)*best - value
			t.Logf("%s, ε = %g: %.0f, best %.0f, even %.0f; regret %.0f, bound %.0f", functions[f], row.epsilon, value, best, even,
				regret, bound)
			if regret > bound || value < row.least || value > best+1 {
				t.Errorf("%s, ε = %g: not within the bound, or less than %.0f", functions[f], row.epsilon, row.least)
			}
		}
	}
}

// TestCopies checks the number of copies against the source paper's proof and pseudocode.
func TestCopies(t *testing.T) {
	m := pure(1<<20, 1)
	c, required, p := config(t, m, "RULE=shares", "PICK=2", "ELEMENTS=6")
	ln := math.Log(1 << 20)
	if want := math.Ceil(math.Pow((1<<20)/math.Pow(ln, 2.5), 0.25)); float64(p.copies) != want || want < 3 {
		t.Errorf("%d copies, want %g", p.copies, want)
	}
	_, _, p = config(t, m, "RULE=shares", "PICK=2", "ELEMENTS=6", "RATE=printed")
	if want := math.Ceil(math.Sqrt(1024 / math.Pow(ln, 2.5))); float64(p.copies) != want {
		t.Errorf("%d copies as printed, want %g", p.copies, want)
	}
	_, _, p = config(t, m, "RULE=shares", "PICK=2", "ELEMENTS=6", "COPIES=7", "RATE=printed")
	want := math.Sqrt(6) / (2 * math.Sqrt(2)) * math.Sqrt(6*math.Pow(ln, 2.5)*math.Sqrt(7)/(1<<20))
	if p.copies != 7 || math.Abs(p.strength/want-1) > 1e-12 {
		t.Errorf("%d copies of H = %g, want 7 of %g", p.copies, p.strength, want)
	}
	b, err := c.Params(required)
	if err != nil {
		t.Fatal(err)
	}
	for what, bad := range map[string][]byte{
		"none": nil, "short": b[1:], "no copies": slices.Concat(b[:1], make([]byte, 4), b[5:]), "too long": append(b, 0),
		"another version":     append([]byte{paramsVersion + 1}, b[1:]...),
		"less than no relief": slices.Concat(b[:20], []byte{0xbf}, b[21:]),
		"another length":      slices.Concat(b[:28], []byte{0x3f}, b[29:]),
	} {
		if _, err := c.read(bad); err == nil {
			t.Errorf("params of %s are taken", what)
		}
	}
}
