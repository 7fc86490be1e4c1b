package submodular

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// led returns the gain that private follow-the-approximate-leader misses at pure ε on a simplex, and a bound on it. One
// element gains 0.3 more than the others at each event. The bound has three terms. Gains of norm L on H-convex losses
// give (L + H·D)²(1 + ln T)/(2H), with D = √2. The regulariser gives H·T/2. The noise of each release gives
// L·|ν_t|/(H·t), because it moves a point by at most |ν_t|/(H·t).
func led(t *testing.T, elements, events int, epsilon float64, seed byte) (missed, bound float64) {
	t.Helper()
	norm := math.Sqrt(float64(elements)) / 2
	l, rng := newLeader(t, elements, events, norm, epsilon, seed), rand.New(rand.NewPCG(uint64(seed), 1))
	sums, had, g := make([]float64, elements), 0.0, make([]float64, elements)
	for range events {
		total := 0.0
		for a, x := range l.point() {
			if total += x; x < 0 {
				t.Fatalf("%v is no point of the simplex", l.point())
			}
			g[a] = -0.5
			if chance := 0.5 + map[bool]float64{true: 0.3}[a == 1]; rng.Float64() < chance {
				g[a] = 0.5
			}
			had += x * g[a]
			sums[a] += g[a]
		}
		if math.Abs(total-1) > 1e-9 {
			t.Fatalf("%v is no point of the simplex", l.point())
		}
		l.learn(g)
		off := 0.0
		for a, x := range l.stream.Sum(0) {
			off += (x - sums[a]) * (x - sums[a])
		}
		bound += norm * math.Sqrt(off) / (l.h * float64(l.seen))
	}
	n := float64(events)
	bound += math.Pow(norm+l.h*math.Sqrt2, 2)*(1+math.Log(n))/(2*l.h) + l.h*n/2
	return slices.Max(sums) - had, bound
}

// TestPureExpertsAreWithinTheirBound checks that PFTAL experts stay in the simplex and within their bound on every run.
// The missed gain must grow as ε falls: like 1/√ε, for which H is chosen, and faster than 1/ε if noise dominates. From
// 4 to 16 elements it must grow by far more than the factor of two of exponential weights.
func TestPureExpertsAreWithinTheirBound(t *testing.T) {
	const events = 4096
	mean := func(elements int, epsilon float64) (sum float64) {
		for seed := range byte(4) {
			missed, bound := led(t, elements, events, epsilon, seed)
			if missed > bound {
				t.Errorf("N = %d, ε = %g: %g is missed, at most %g", elements, epsilon, missed, bound)
			}
			sum += missed / 4
		}
		return sum
	}
	few, half, many := mean(4, 24), mean(4, 6), mean(16, 24)
	if _, bound := led(t, 4, events, 100, 1); bound > 0.3*events {
		t.Errorf("a bound of %g says nothing of %d events", bound, events)
	}
	weights := missedByHedge(events, 16, 0.3, 0.05) / missedByHedge(events, 4, 0.3, 0.05)
	t.Logf("of 4 elements %.1f, at a quarter of ε %.1f, of 16 elements %.1f; weights %.1f times", few, half, many, weights)
	if half < 2*few || many < 10*few || weights > 2.5 {
		t.Errorf("of 4 elements %g is missed, at a quarter of ε %g, of 16 elements %g; weights miss %g times as much", few, half,
			many, weights)
	}
}
