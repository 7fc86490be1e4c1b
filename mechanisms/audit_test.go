package mechanisms_test

import (
	"math"
	"slices"
	"testing"

	"oriel/mechanisms"
	"oriel/mechanisms/blt"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/mechtest"
	"oriel/mechanisms/mechtest/sumtest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// The two streams of a canary pair differ only in the record of step 1. The window has 8 steps, and for this record the
// loss equals the guarantee. The releases of steps 1, 2, 4 and 8 are each the canary plus the noise of one node, and
// the four nodes are independent. The sum of these releases is the likelihood-ratio statistic.
const (
	auditSteps = 8
	auditAlpha = 1e-6 // the false-rejection probability of each Clopper-Pearson bound
)

var auditRuns = tiertest.Runs(4000, 8000) // this many runs with the canary, and as many without

// attained holds the weights of releases 1 to 8 in the likelihood-ratio statistic.
var attained = []float64{0: 1, 1: 1, 3: 1, auditSteps - 1: 1}

// scores runs the stream with a canary in the first step, possibly further ones in later steps, and zeros elsewhere.
// Each run has its own key and so independent noise. It returns the statistic of each run.
func scores(
	t *testing.T, stream *mechtest.Counted, canary []float64, weights []float64, topic byte, places ...int,
) []float64 {
	t.Helper()
	start := stream.AppendState(nil)
	out := make([]float64, auditRuns)
	gradients := slices.Repeat([][]float64{make([]float64, stream.Dimension())}, len(weights))
	for _, p := range append([]int{0}, places...) {
		gradients[p] = canary
	}
	for i := range out {
		if err := stream.Restore(start); err != nil {
			t.Fatal(err)
		}
		id := noise.Identity{Topic: [16]byte{topic}, Offset: int64(i)}
		stream.Rekey([32]byte{topic, byte(i), byte(i >> 8), 1})
		for step, weight := range weights {
			stream.Add(id, gradients[step])
			out[i] += float64(weight * stream.Sum(0)[0])
		}
	}
	if err := stream.Restore(start); err != nil {
		t.Fatal(err)
	}
	return out
}

// gaussianBound returns a lower bound on µ at confidence 1 − 2·auditAlpha. The threshold is half way between the two
// means, which are computed from the canaries before the first run.
func gaussianBound(high, low []float64, threshold float64) float64 {
	above := func(scores []float64) (k int) {
		for _, x := range scores {
			if x > threshold {
				k++
			}
		}
		return k
	}
	return sumtest.RefutedMu(above(high), above(low), auditRuns, auditAlpha)
}

func auditConfig(adjacency dp.Adjacency) mechanisms.Config {
	c := mechtest.Config(1)
	c.Unit = protection.Event{Exchange: adjacency}
	c.Budget.Epsilon = 20 // µ near 2.9, so that a bound within a tenth of it takes few runs
	return c
}

// TestAuditReachesTheClaim checks under both adjacencies that the audit's bound on µ reaches the share of the claim
// that this number of runs allows, and stays below the claim. A gradient of any norm gives a canary of norm L, because
// it is clipped.
func TestAuditReachesTheClaim(t *testing.T) {
	f := func(name string, adjacency dp.Adjacency, high, low []float64, threshold float64) {
		t.Helper()
		stream := mechtest.ByCount(mechtest.Open(t, auditConfig(adjacency), [32]byte{6}))
		got := gaussianBound(scores(t, stream, high, attained, 1), scores(t, stream, low, attained, 2), threshold)
		claim := stream.Guarantee().Mu
		t.Logf("%s: bound %.4f, claim %.4f, ratio %.3f", name, got, claim, got/claim)
		if got < sumtest.PromisedMu(claim, auditRuns, auditAlpha) || got > claim {
			t.Errorf("%s: bound %g, claim %g", name, got, claim)
		}
	}
	f("replace", dp.Replace, []float64{1}, []float64{-1}, 0)
	f("replace, far outside the clip", dp.Replace, []float64{1e9}, []float64{-1e200}, 0)
	f("zero-out", dp.ZeroOut, []float64{1}, nil, 2) // nil is the null event
}

// likelihood returns the weights of the releases of blt in the likelihood-ratio statistic of events at the given places
// in 0 … steps − 1. The statistic is Σ_t x_t·(β∗y)_t with x = β∗G of an event of size 1, in float64 by recurrences.
func likelihood(f blt.Filter, steps int, places []int) []float64 {
	const unit = 1 << 30
	beta, weights := make([]float64, steps), make([]float64, steps)
	beta[0] = 1
	for j := 1; j < steps; j++ {
		for i := 1; i <= j; i++ {
			for k := range f.Count {
				beta[j] -= beta[j-i] * float64(f.Residues[k]) / unit * math.Pow(float64(f.Poles[k])/unit, float64(i-1))
			}
		}
	}
	for t := range steps {
		x := 0.0
		for _, p := range places {
			for l := range max(0, t-p+1) {
				x += beta[l]
			}
		}
		for l := range t + 1 {
			weights[t-l] += x * beta[l]
		}
	}
	return weights
}

// TestAuditOfAUserReachesTheClaim checks that blt attains its user-level claim for a user whose events are as close as
// the separation allows, and that no user exceeds it: W = 12, s = 5, k = 3.
func TestAuditOfAUserReachesTheClaim(t *testing.T) {
	c := auditConfig(dp.ZeroOut)
	c.Name, c.Scope, c.Unit = "blt", protection.Window{Steps: 12}, separated(5)
	calibration := mechtest.Plan(t, c)
	stream := mechtest.ByCount(mechtest.Open(t, c, [32]byte{7}))
	claim := stream.Guarantee().Mu
	found := func(stream *mechtest.Counted, places ...int) float64 {
		weights := likelihood(calibration.Filter, 12, places)
		return gaussianBound(scores(t, stream, []float64{1}, weights, 1, places...),
			scores(t, stream, []float64{-1}, weights, 2, places...), 0)
	}
	worst := found(stream, 0, 5, 10)
	t.Logf("bound %.4f, claim %.4f, ratio %.3f", worst, claim, worst/claim)
	if worst < sumtest.PromisedMu(0.98*claim, auditRuns, auditAlpha) || worst > claim {
		t.Errorf("bound %g, claim %g", worst, claim)
	}
	if got := found(stream, 0, 7, 11); got > claim {
		t.Errorf("a user with other places: bound %g, claim %g", got, claim)
	}
	c.Unit = separated(6) // k = 2 events a user, but the noise is calibrated for one
	few := mechtest.ByCount(mechtest.Open(t, c, [32]byte{7}))
	if got := found(few, 0, 5, 10); !(got > few.Guarantee().Mu) {
		t.Errorf("an event too many: not caught: bound %g, claim %g", got, few.Guarantee().Mu)
	}
}

// bent plants a faulty sampler, called with the number of the draw in its run.
type bent struct {
	stream *mechtest.Counted
	fill   func(dst []int64, seed noise.Seed, step uint64)
}

func (b *bent) Fill(dst []int64, seed noise.Seed) { b.fill(dst, seed, b.stream.Step()) }

// TestAuditCatchesPlantedFaults checks that each planted fault gives a bound above the claim.
func TestAuditCatchesPlantedFaults(t *testing.T) {
	c := auditConfig(dp.Replace)
	calibration := mechtest.Plan(t, c)
	sampler := func(scale noise.Scale) noise.Sampler {
		g, err := noise.NewGaussian(scale)
		if err != nil {
			t.Fatal(err)
		}
		return g
	}
	whole := sampler(calibration.Scale)
	half := sampler(noise.Scale{Mant: calibration.Scale.Mant, Exp: calibration.Scale.Exp - 1})
	zeroOut := sampler(mechtest.Plan(t, auditConfig(dp.ZeroOut)).Scale)
	f := func(name string, weights []float64, fill func(dst []int64, seed noise.Seed, step uint64)) {
		t.Helper()
		fault := &bent{fill: fill}
		stream := mechtest.ByCount(mechtest.Planted(t, c, calibration, fault))
		fault.stream = stream
		got := gaussianBound(scores(t, stream, []float64{1}, weights, 1), scores(t, stream, []float64{-1}, weights, 2), 0)
		claim := stream.Guarantee().Mu
		t.Logf("%s: bound %.4f, claim %.4f", name, got, claim)
		if !(got > claim) {
			t.Errorf("%s: not caught: bound %g, claim %g", name, got, claim)
		}
	}
	f("noise at half scale", attained, func(dst []int64, seed noise.Seed, _ uint64) { half.Fill(dst, seed) })
	f("noise of L where 2L is due", attained, func(dst []int64, seed noise.Seed, _ uint64) { zeroOut.Fill(dst, seed) })
	f("noise missing at the block's last step", attained, func(dst []int64, seed noise.Seed, step uint64) {
		if whole.Fill(dst, seed); step == auditSteps {
			clear(dst)
		}
	})
	// y₁ = v + x₁ and y₃ = v + x₁₂ + x₃. If all nodes have the same noise, 2y₁ − y₃ is the canary itself.
	var first noise.Seed
	f("one node's noise reused", []float64{0: 2, 2: -1}, func(dst []int64, seed noise.Seed, step uint64) {
		if step == 1 {
			first = seed
		}
		whole.Fill(dst, first)
	})
}
