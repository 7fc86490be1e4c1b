package submodular

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/mechanisms/mechtest/tiertest"
)

// TestFullInformationIsWithinItsBounds checks full information on every path. At each position the missed gain is at
// most ηT + ln N/η (Theorem 3; Theorem 6 has k times this bound). The (1 − 1/e)-regret is at most the sum of missed
// gains over positions, for the elements that were drawn (Proposition 3). The test covers the printed, the tight and
// the non-private rate.
func TestFullInformationIsWithinItsBounds(t *testing.T) {
	const events, elements, pick = 3000, 6, 2
	all := worths(events, elements, 2)
	r := rates{events: events, elements: elements, pick: pick, epsilon: 8, delta: 1e-6}
	free := math.Sqrt(math.Log(elements) / events)
	if !(r.printed() < r.tight(1) && r.tight(1) < r.tight(100)) {
		t.Errorf("rates %g, %g, %g do not grow", r.printed(), r.tight(1), r.tight(100))
	}
	for _, f := range []function{facility, probabilistic} {
		best := 0.0
		for a := range elements {
			for b := range a {
				sum := 0.0
				for _, v := range all {
					sum += valueOf(f, v, []int{a, b}, pick)
				}
				best = max(best, sum)
			}
		}
		for _, eta := range []float64{r.printed(), min(r.tight(1), free), free, 0.5} {
			e, had := newExperts(f, elements, pick, 1, eta, 9), 0.0
			var sums [pick][elements]float64
			var chosen, expected [pick]float64
			for _, v := range all {
				set := e.next()
				for i, element := range set {
					e.hedges[i].probabilities(e.probabilities)
					for a := range v {
						g := gainBehind(f, v, set[:i], a, pick)
						sums[i][a] += g
						expected[i] += e.probabilities[a] * g
					}
					chosen[i] += gainBehind(f, v, set[:i], element, pick)
				}
				had += valueOf(f, v, set, pick)
				e.learn(v)
			}
			regrets := 0.0
			for i := range pick {
				most := 0.0
				for a, s := range sums[i] {
					most = max(most, s)
					if math.Abs(s-e.hedges[i].scores[a]) > 1e-6 {
						t.Fatalf("%s: element %d has gained %g at position %d, its score is %g", functions[f], a, s, i, e.hedges[i].scores[a])
					}
				}
				if bound := eta*events + math.Log(elements)/eta; most-expected[i] > bound {
					t.Errorf("%s, η = %g: position %d misses %g, at most %g", functions[f], eta, i, most-expected[i], bound)
				}
				regrets += max(0, most-chosen[i])
			}
			if regret := (1-1/math.E)*best - had; regret > regrets+1e-6 {
				t.Errorf("%s, η = %g: the regret is %g, of positions %g", functions[f], eta, regret, regrets)
			}
		}
	}
}

// missedByHedge returns the gain that Hedge misses, Σ (1 − x_t)·gap with x_t the probability of the first element, if
// that element gains more than all others by gap at each event.
func missedByHedge(events, elements int, gap, eta float64) (sum float64) {
	for t := range events {
		others := float64(elements-1) * math.Exp(-eta*gap*float64(t))
		sum += gap * others / (1 + others)
	}
	return sum
}

// TestSlopesOfFullInformation checks how the gain that FI-DP misses grows, as slopes in log-log scale. On a fixed
// instance it falls like 1/ε, once FI-DP has learned. On instances with a gap that shrinks like T^−½ it grows like T^½,
// as the bound does. Streams with a fixed gap have other slopes, because the number of missed events is then at most ln
// N/(ηgap).
func TestSlopesOfFullInformation(t *testing.T) {
	r := rates{events: 100000, elements: 10, pick: 2, epsilon: 20, delta: 1e-6}
	half := r
	half.epsilon /= 2
	for name, rate := range map[string]func(rates) float64{"printed": rates.printed, "composed": rates.composed} {
		ratio := missedByHedge(r.events, r.elements, 0.5, rate(half)) / missedByHedge(r.events, r.elements, 0.5, rate(r))
		if math.Abs(ratio-2) > 0.1 {
			t.Errorf("%s: half of ε misses %g times as much", name, ratio)
		}
		long := r
		long.events *= 100
		of := func(r rates) float64 {
			return missedByHedge(r.events, r.elements, 100/math.Sqrt(float64(r.events)), rate(r))
		}
		if slope := math.Log(of(long)/of(r)) / math.Log(100); math.Abs(slope-0.5) > 0.02 {
			t.Errorf("%s: slope %g, want 1/2", name, slope)
		}
	}
}

// bound returns the bound on the regret of BanditDP with a share γ of explorations: k(ηT + kN ln N/(γη)) + γT (Lemmas 2
// and 3). η is calibrated to the largest possible number of explorations, or to T draws in variant B.1, which draws at
// each event.
func (r rates) bound(gamma float64, direct, printed bool) float64 {
	k, n, events := float64(r.pick), float64(r.elements), float64(r.events)
	most := 2 * gamma * events
	if direct {
		most = events
	}
	eta, tight := r.explored(most)
	if !printed {
		eta = tight
	}
	return k*(eta*events+k*n*math.Log(n)/(gamma*eta)) + gamma*events
}

// least returns the bound at the best γ.
func (r rates) least(direct, printed bool) float64 {
	best := math.Inf(1)
	for gamma := 1.0; gamma > 1e-9; gamma *= 0.98 {
		best = min(best, r.bound(gamma, direct, printed))
	}
	return best
}

// TestBoundsOfTheBandit checks that the bounds grow as T^{2/3}, and for B.1 as T^{3/4}. With zCDP, where an event
// reaches only one expert, they are far below the printed bounds, because η is larger by k·√(4 ln(k/δ)). The γ with k²,
// which the theorem needs, gives a bound within a factor two of the best one. The printed γ with k gives a worse bound.
func TestBoundsOfTheBandit(t *testing.T) {
	r := rates{events: 1e15, elements: 10, pick: 30, epsilon: 1, delta: 1e-6}
	long := r
	long.events *= 1000
	for _, row := range []struct {
		direct, printed bool
		slope           float64
	}{{false, true, 2.0 / 3}, {false, false, 2.0 / 3}, {true, true, 0.75}, {true, false, 0.75}} {
		slope := math.Log(long.least(row.direct, row.printed)/r.least(row.direct, row.printed)) / math.Log(1000)
		if math.Abs(slope-row.slope) > 0.02 {
			t.Errorf("%+v: slope %g", row, slope)
		}
	}
	if ratio := r.least(false, true) / r.least(false, false); ratio < 5 {
		t.Errorf("the printed bound is only %g times the tight one", ratio)
	}
	single, squared, best := r.bound(r.gamma(1), false, true), r.bound(r.gamma(2), false, true), r.least(false, true)
	if squared > 2*best || squared > single {
		t.Errorf("at γ of k² the bound is %g, of k %g, at best %g", squared, single, best)
	}
}

// TestBanditsAreWithinTheirBounds checks that mean regrets over 20 streams are within their bounds, for Streeter and
// Golovin's bandit and for BanditDP with the tight rate. Both bounds are far below the regret of a set that learns
// nothing.
func TestBanditsAreWithinTheirBounds(t *testing.T) {
	const events, elements, pick, runs = 40000, 4, 2, 20
	rng := rand.New(rand.NewPCG(1, 77))
	values := []float64{0.1, 0.9, 0.2, 0.15} // value of each element to events that it serves
	r := rates{events: events, elements: elements, pick: pick, epsilon: 200, delta: 1e-6}
	for name, direct := range map[string]bool{"Streeter and Golovin": true, "BanditDP": false} {
		const gamma = 0.2
		n, k := float64(elements), float64(pick)
		eta := min(1, math.Sqrt(k*n*math.Log(n)/(gamma*events)))
		if _, tight := r.explored(2 * gamma * events); !direct {
			eta = min(eta, tight)
		}
		bound := k*(eta*events+k*n*math.Log(n)/(gamma*eta)) + gamma*events
		mean, best := 0.0, 0.0
		for seed := range uint64(runs) {
			b := newBandit(elements, pick, eta, capped(gamma, int(2*gamma*events)), seed)
			b.direct = direct
			for range events {
				v := make([]float64, elements)
				for a := range v {
					if rng.IntN(4) > 0 {
						v[a] = values[a]
					}
				}
				value := func(set []int) float64 { return valueOf(facility, v, set, pick) }
				best += value([]int{1, 2}) / runs
				played, _ := b.play(value)
				mean += value(played) / runs
			}
		}
		regret := (1-1/math.E)*best - mean
		t.Logf("%s: regret %.0f to the best set, %.0f to 1 − 1/e of it, bound %.0f, best %.0f", name, best-mean, regret, bound, best)
		if regret > bound || bound > 0.8*best || best-mean > bound {
			t.Errorf("%s: regret %g to the best set, bound %g, the best set has %g", name, best-mean, bound, best)
		}
	}
}

// TestDisplayExample checks the display example. Readers click one of k slots with independent probabilities p_a, f(S)
// = 1 − Π(1 − p_a). In the mean of 8 keys, or 3 in the short form, FI-DP at ε = 1 must get more clicks than random
// sets, and come closer to greedy as ε grows.
func TestDisplayExample(t *testing.T) {
	const events, elements, pick = 20000, 12, 3
	keys := tiertest.Runs(3, 8)
	all := worths(events, elements, 4)
	clicked := func(set func(i int) []int) (mean float64) {
		for i, v := range all {
			mean += valueOf(probabilistic, v, set(i), pick) / events
		}
		return mean
	}
	rng := rand.New(rand.NewPCG(6, 6))
	random := clicked(func(int) []int { return rng.Perm(elements)[:pick] })
	g, ones := newGreedy(probabilistic, events, elements, pick), make([]float64, events)
	table := make([]float64, 0, events*elements)
	for i, v := range all {
		table, ones[i] = append(table, v...), 1
	}
	best, _ := g.weighted(table, ones)
	top := clicked(func(int) []int { return best })
	private := func(epsilon float64) (share float64) {
		r := rates{events: events, elements: elements, pick: pick, epsilon: epsilon, delta: 1e-6}
		for key := range uint64(keys) {
			e := newExperts(probabilistic, elements, pick, 1, r.tight(1), key)
			got := clicked(func(i int) []int {
				set := slices.Clone(e.next())
				e.learn(all[i])
				return set
			})
			share += (got - random) / (top - random) / float64(keys)
		}
		return share
	}
	one, four, many := private(1), private(4), private(100)
	t.Logf("random %.3f, greedy %.3f; FI-DP has %.2f of what is between at ε = 1, %.2f at 4, %.2f at 100", random, top, one,
		four, many)
	if one < 0.02 || four < one+0.1 || many < four+0.2 {
		t.Errorf("of what greedy has above random sets FI-DP has %g, %g, %g", one, four, many)
	}
}
