package race

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/plan/decisions"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/mechtest/tiertest"
)

// stream makes events of one kind: a label, and features to which the test adds a constant before it scales them to
// norm 1.
type stream struct {
	name, loss string
	dimension  int
	next       func(rng *rand.Rand, t float64) (x []float64, y float64) // t is the position in the stream, in [0, 1)
}

// class draws a label from a logistic model.
func class(rng *rand.Rand, odds float64) float64 {
	if rng.Float64() < probability(odds) {
		return 1
	}
	return -1
}

func normals(rng *rand.Rand, n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

func inner(x, w []float64, scale float64) (sum float64) {
	for i := range x {
		sum += scale * x[i] * w[i]
	}
	return sum
}

// testStreams returns very different streams: five of classes, with drift, rare labels, sparse one-hot features, many
// coordinates, and features without influence; and one with a numeric target.
func testStreams() []stream {
	fixed := rand.New(rand.NewPCG(77, 1))
	w, v := normals(fixed, 200), normals(fixed, 200)
	return []stream{
		{"stationary", "logistic", 20, func(rng *rand.Rand, _ float64) ([]float64, float64) {
			x := normals(rng, 19)
			return x, class(rng, inner(x, w, 0.35)-0.7)
		}},
		{"drift", "logistic", 11, func(rng *rand.Rand, t float64) ([]float64, float64) {
			x := normals(rng, 10)
			return x, class(rng, math.Cos(2*t)*inner(x, w, 0.5)+math.Sin(2*t)*inner(x, v, 0.5)+math.Sin(9*t))
		}},
		{"imbalanced", "logistic", 16, func(rng *rand.Rand, _ float64) ([]float64, float64) {
			x := normals(rng, 15)
			return x, class(rng, inner(x, w, 0.4)-3.6)
		}},
		{"one-hots", "logistic", 61, func(rng *rand.Rand, _ float64) ([]float64, float64) {
			x := make([]float64, 60)
			for k := range 5 {
				x[12*k+int(12*math.Pow(rng.Float64(), 2))] = 1
			}
			return x, class(rng, inner(x, w, 0.8)-0.5)
		}},
		{"many", "logistic", 100, func(rng *rand.Rand, _ float64) ([]float64, float64) {
			x := normals(rng, 99)
			return x, class(rng, inner(x, w, 0.17))
		}},
		{"classes", "hinge", 20, func(rng *rand.Rand, _ float64) ([]float64, float64) {
			x := normals(rng, 19)
			return x, class(rng, inner(x, w, 0.8)-0.3)
		}},
		{"target", "squared", 9, func(rng *rand.Rand, _ float64) ([]float64, float64) {
			x := normals(rng, 8)
			return x, max(-1, min(1, inner(x, w, 0.15)+0.2*rng.NormFloat64()))
		}},
	}
}

func (s stream) lines(n int) (l lines) {
	rng := rand.New(rand.NewPCG(78, uint64(len(s.name))))
	for i := range n {
		x, y := s.next(rng, float64(i)/float64(n))
		x = append([]float64{3}, x...)
		norm := math.Sqrt(inner(x, x, 1))
		b := []byte(`{"features":[`)
		for k := range x {
			b = append(strconv.AppendFloat(b, 0.9999*x[k]/norm, 'f', 5, 64), ',')
		}
		l = append(l, fmt.Sprintf(`%s],"label":%v}`, b[:len(b)-1], y))
	}
	return l
}

// TestAdviceHelpsOnEveryStream checks the advice of `oriel plan` at ε = 1 over 14 000 events (40 000 in the long form).
// It must keep half of the gain of the same learner without noise, or be within 0.02 of the learner's loss. Its loss
// must be smaller than with settings without the advice. If a label is so rare that no learner beats the base rate in
// this many events, its loss may be 0.01 larger. In the short form a decision comes every eighth step, so that a model
// is at most 7 events old.
func TestAdviceHelpsOnEveryStream(t *testing.T) {
	events, every := tiertest.Runs(14_000, 40_000), tiertest.Runs(8, 1)
	for _, s := range testStreams() {
		given := []string{
			"ORIEL_LOSS=" + s.loss, fmt.Sprintf("ORIEL_DIMENSION=%d", s.dimension), "ORIEL_EPSILON=1", "ORIEL_MECHANISM=blt",
			"ORIEL_WINDOW=1024",
			"ORIEL_STRONG_CONVEXITY=0.001", "ORIEL_START_REGULARIZER=0", fmt.Sprintf("ORIEL_EMIT_EVERY=%d", every),
		}
		without := load(t, given...)
		learner := without.Learner()
		mechanism, operator := learner.Mechanism(), learner.Operator()
		advice, ok, err := decisions.Advise(mechanism, operator, nil)
		if err != nil || !ok {
			t.Fatalf("%s: no advice: %v", s.name, err)
		}
		with := load(t, slices.Concat(given, []string{
			fmt.Sprintf("ORIEL_START_REGULARIZER=%g", float64(advice.StartRegularizer)),
			fmt.Sprintf("ORIEL_STRONG_CONVEXITY=%g", float64(advice.StrongConvexity)),
		})...)
		r := evaluate(t, eval.Input{Settings: []settings.Settings{with, without}}, s.lines(events))
		advised, plain := r.Rows[0], r.Rows[1]
		t.Logf("%s: λ₀ %g: %.4f, without noise %.4f, gain %.2f; without advice %.4f; base rate %.4f", s.name,
			advice.StartRegularizer,
			advised.Loss.Mean, advised.WithoutNoise, advised.Gain, plain.Loss.Mean, r.Rows[len(r.Rows)-1].Loss.Mean)
		if !(advised.Gain >= 0.5) && !(advised.Loss.Mean <= advised.WithoutNoise+0.02) {
			t.Errorf("%s: %.0f %% of the gain, %g beside %g", s.name, 100*advised.Gain, advised.Loss.Mean, advised.WithoutNoise)
		}
		if advised.Loss.Mean >= plain.Loss.Mean+0.01 {
			t.Errorf("%s: advice loses %g, no advice %g", s.name, advised.Loss.Mean, plain.Loss.Mean)
		}
	}
}
