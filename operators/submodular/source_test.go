package submodular

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// This file implements algorithms of the source paper for comparison with the package's: Perez-Salazar and Cummings,
// "Differentially Private Online Submodular Maximization" (AISTATS 2021), Algorithms 2 and 3, with the printed rates
// and with the rates that zCDP allows (SPEC.md).

// rates computes rates for T events, N elements and k positions, at (ε, δ).
type rates struct {
	events, elements, pick int
	epsilon, delta         float64
}

// zcdp returns a ρ for which ρ-zCDP implies (ε, δ) by the simplest conversion.
func (r rates) zcdp() float64 {
	l := math.Log(1 / r.delta)
	return math.Pow(math.Sqrt(r.epsilon+l)-math.Sqrt(l), 2)
}

// printed returns η of Algorithm 2, FI-DP.
func (r rates) printed() float64 {
	k := float64(r.pick)
	return r.epsilon / (k * math.Sqrt(32*float64(r.events)*math.Log(k/r.delta)))
}

// composed returns η by advanced composition over all kT draws at once.
func (r rates) composed() float64 {
	return r.epsilon / math.Sqrt(32*float64(r.pick)*float64(r.events)*math.Log(1/r.delta))
}

// tight returns η by zCDP for draws once in period events. Each draw is η²/2-zCDP, and there are k·⌈T/period⌉ draws.
func (r rates) tight(period int) float64 {
	draws := r.pick * ((r.events + period - 1) / period)
	return math.Sqrt(2 * r.zcdp() / float64(draws))
}

// explored returns η of Algorithm 3, BanditDP, for at most most explorations: as printed, and by zCDP, where each event
// reaches only one expert.
func (r rates) explored(most float64) (printed, tight float64) {
	k := float64(r.pick)
	return r.epsilon / (k * math.Sqrt(32*most*math.Log(k/r.delta))), math.Sqrt(8 * r.zcdp() / most)
}

// gamma returns the share of explorations of Algorithm 3. power is that of k in its formula: 1 as printed, or 2 as its
// Theorem 8 needs.
func (r rates) gamma(power float64) float64 {
	n := 16 * float64(r.elements) * math.Log(float64(r.elements))
	return min(1, math.Pow(float64(r.pick), power)*math.Pow(n*n/float64(r.events), 1.0/3))
}

// TestRatesOfTheSource checks the rates of the source paper against an earlier, independent computation.
func TestRatesOfTheSource(t *testing.T) {
	near := func(what string, got, want float64) {
		t.Helper()
		if math.Abs(got/want-1) > 1e-6 {
			t.Errorf("%s is %.8g, want %.8g", what, got, want)
		}
	}
	r := rates{events: 1000, elements: 10, pick: 3, epsilon: 1, delta: 1e-6}
	near("η printed", r.printed(), 4.82508e-4)
	near("η composed", r.composed(), 8.68322e-4)
	near("η by zCDP", r.tight(1), 3.412614e-3)
	printed, tight := r.explored(200)
	near("bandit η printed", printed, 1.0789217e-3)
	near("bandit η by zCDP", tight, 2.6433997e-2)
	if r.gamma(1) != 1 {
		t.Errorf("γ is %g where a thousand events are too few to exploit", r.gamma(1))
	}
	if big := (rates{events: 1e12, elements: 10, pick: 3}); big.gamma(2)/big.gamma(1) != 3 {
		t.Error("γ of the theorem is not k times the printed one")
	}
}

// hedge draws elements with probabilities that grow by e^η with each unit of gain: Algorithm 1.
type hedge struct {
	eta    float64
	scores []float64
}

// probabilities writes the probabilities of the next draw.
func (h *hedge) probabilities(dst []float64) {
	most, sum := math.Inf(-1), 0.0
	for _, s := range h.scores {
		most = max(most, s)
	}
	for a, s := range h.scores {
		dst[a] = math.Exp(h.eta * (s - most))
		sum += dst[a]
	}
	for a := range dst {
		dst[a] /= sum
	}
}

func draw(rng *rand.Rand, probabilities []float64) int {
	u := rng.Float64()
	for a, p := range probabilities {
		if u -= p; u < 0 {
			return a
		}
	}
	return len(probabilities) - 1
}

// experts are k instances of Hedge, one for each position. If they draw at each event they are FI-DP, and if they draw
// once in period events its batched form. With another η, without privacy, they are Streeter and Golovin's algorithm.
type experts struct {
	function      function
	period        int
	hedges        []hedge
	rng           *rand.Rand
	set           []int
	probabilities []float64
	played        int
}

func newExperts(f function, elements, pick, period int, eta float64, seed uint64) *experts {
	e := &experts{
		function: f, period: period, rng: rand.New(rand.NewPCG(seed, 14)), set: make([]int, pick),
		probabilities: make([]float64, elements),
	}
	for range pick {
		e.hedges = append(e.hedges, hedge{eta: eta, scores: make([]float64, elements)})
	}
	return e
}

// next returns the set for the next event.
func (e *experts) next() []int {
	if e.played%e.period == 0 {
		for i := range e.set {
			e.hedges[i].probabilities(e.probabilities)
			e.set[i] = draw(e.rng, e.probabilities)
		}
	}
	e.played++
	return e.set
}

// learn takes the values of elements to an event.
func (e *experts) learn(v []float64) {
	for i := range e.set {
		for a := range v {
			e.hedges[i].scores[a] += gainBehind(e.function, v, e.set[:i], a, len(e.set))
		}
	}
}

// gainBehind returns the gain of an element that is added to a set, which is zero if the set contains the element.
func gainBehind(f function, v []float64, set []int, a, pick int) float64 {
	if slices.Contains(set, a) {
		return 0
	}
	return f.gain(valueOf(f, v, set, pick), v[a], pick)
}

// TestHedge checks that on every run the missed gain is at most ηΣ⟨x, g²⟩ + ln N/η (Theorem 3 of the source paper).
// Exchanging one event must change the logarithm of a probability by at most 2η.
func TestHedge(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for range 50 {
		const elements, events = 6, 300
		eta := 0.3 * rng.Float64()
		h, other := hedge{eta, make([]float64, elements)}, hedge{eta, make([]float64, elements)}
		probabilities, moved := make([]float64, elements), make([]float64, elements)
		had, squares := 0.0, 0.0
		for i := range events {
			h.probabilities(probabilities)
			other.probabilities(moved)
			for a := range probabilities {
				if ratio := math.Abs(math.Log(probabilities[a] / moved[a])); ratio > 2*eta+1e-9 {
					t.Fatalf("one event moves a log chance by %g, 2η is %g", ratio, 2*eta)
				}
				g := float64(rng.IntN(2)) * rng.Float64()
				had += probabilities[a] * g
				squares += probabilities[a] * g * g
				h.scores[a] += g
				if i == 100 {
					g = float64(a % 2) // the exchanged event
				}
				other.scores[a] += g
			}
		}
		for a, s := range h.scores {
			if s-had > eta*squares+math.Log(elements)/eta+1e-9 {
				t.Fatalf("element %d: %g is missed, at most %g may be", a, s-had, eta*squares+math.Log(elements)/eta)
			}
		}
	}
}

// TestConcentrationOfExplorations checks that Pr[M ≥ 2γT] of M explorations is at most e^{−2γ²T}, and not at most
// e^{−8γ²T} as Theorem 7 of the source paper states. At γ = 1/4 and T = 32 the probability is 2.0e-3, while the printed
// bound is 1.1e-7. Capped coins need neither bound.
func TestConcentrationOfExplorations(t *testing.T) {
	const events, gamma = 32, 0.25
	tail := 0.0
	for m := events / 2; m <= events; m++ {
		a, _ := math.Lgamma(events + 1)
		b, _ := math.Lgamma(float64(m + 1))
		c, _ := math.Lgamma(float64(events - m + 1))
		tail += math.Exp(a - b - c + float64(m)*math.Log(gamma) + float64(events-m)*math.Log(1-gamma))
	}
	if math.Abs(tail/2.0e-3-1) > 0.05 || tail > math.Exp(-2*gamma*gamma*events) || tail < math.Exp(-8*gamma*gamma*events) {
		t.Errorf("the chance of 16 of 32 is %g", tail)
	}
}
