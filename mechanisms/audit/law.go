package audit

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
)

// Law is the claimed joint law of a run's releases with and without the canary. It follows from the calibration's
// integers, not from measurements.
type Law struct {
	canary     Canary
	config     mechanisms.Config
	signal     []float64 // m_t, number of canary events in release t
	components []definition.Component
	scales     []float64 // σ or θ of each coordinate, loss units
	distance   float64   // distance of the contributions with and without the canary, in scales
	direction  []float64 // projects a release, in scales, on the direction With − Without
	middle     float64   // midpoint of the two contributions projected on direction
	marks      []int

	weights    []float64                 // Gaussian noise: weight of each release in the score, nats/scale; else nil
	singleNode []bool                    // pure noise: marks releases that contain one node
	norm       func(x []float64) float64 // pure noise: density ∝ e^{−norm/θ}
	reach      float64
	draws      func(k int) []float64
}

// ErrNowhere means that the canary is in no release of a single node, in an audit that uses only such releases.
var ErrNowhere = errors.New("audit: pure noise of a tree is audited by releases 1, 2, 4, … of its first block, which are single nodes, and none of these holds the canary")

// NewLaw computes the score of a canary under a calibration. The audit of a tree with pure noise uses only releases of
// a single node. A canary at step 1, the worst step, is in all of them. A later canary is in fewer of them, possibly
// none.
func NewLaw(c mechanisms.Config, p mechanisms.Calibration, k Canary) (*Law, error) {
	if err := errors.Join(c.Validate(), k.validate(c.Dimension())); err != nil {
		return nil, err
	}
	facts, _ := mechanisms.FactsOf(c.Name)
	perStep := facts.EachStep()
	l := &Law{
		canary: k, config: c, signal: k.signal(definition.Kept(p)), components: definition.Components(c, p),
		scales: definition.Scales(c, p), marks: k.marks(),
	}
	l.direction = l.canaryShift()
	l.distance = norm2(l.direction)
	for i := range l.direction {
		l.direction[i] /= l.distance * l.scales[i]
	}
	l.middle = (dot(l.direction, k.With) + dot(l.direction, k.Without)) / 2
	switch {
	case facts.Radial():
		return l, l.pure(perStep, l.norms2)
	case facts.Law == mechanisms.Laplace:
		return l, l.pure(perStep, norm1)
	default:
		l.gaussian(noiseOf(definition.NoiseOf(c, p, int(k.Releases))))
	}
	return l, nil
}

// canaryShift returns the difference of the two contributions, in noise scales.
func (l *Law) canaryShift() []float64 {
	out := difference(l.canary.With, l.canary.Without)
	for i := range out {
		out[i] /= l.scales[i]
	}
	return out
}

// norms2 sums the ℓ2 norms of the components, because each component has its own noise vector.
func (l *Law) norms2(x []float64) float64 {
	sum := 0.0
	for _, p := range l.components {
		sum += norm2(x[p.From:p.To])
	}
	return sum
}

// gaussian sets the weight of release t, in scales, to x_t·D·(xᵀm)/xᵀCx with x = C⁻¹m. The score is then normal with
// means ±µ²/2 and variance µ², where µ = D·xᵀm/√(xᵀCx). D is the distance between the contributions with and without
// the canary, over all components, in scales.
func (l *Law) gaussian(c covariance) {
	l.weights = c.solve(l.signal)
	slope, variance := dot(l.weights, l.signal)*l.distance, c.form(l.weights)
	l.reach = slope / math.Sqrt(variance)
	for t := range l.weights {
		l.weights[t] *= slope / variance
	}
	l.draws = l.normalDraws
}

// pure chooses the releases that contain the canary and only one node: for a tree releases 1, 2, 4, …, W, for per-step
// sums every release with a canary. A node with m_t canary events adds ‖y − m_t·Without‖ − ‖y − m_t·With‖ to the score,
// in scales and summed over components, which is at most m_t·‖With − Without‖.
func (l *Law) pure(perStep bool, norm func([]float64) float64) error {
	l.norm, l.singleNode = norm, make([]bool, len(l.signal))
	largest := norm(l.canaryShift())
	for t, m := range l.signal {
		if step := uint64(t + 1); m > 0 && (perStep || step <= l.config.Scope.Span() && bits.OnesCount64(step) == 1) {
			l.singleNode[t] = true
			l.reach += m * largest
		}
	}
	if l.reach == 0 {
		return fmt.Errorf("%w: step %d, window %d", ErrNowhere, l.canary.Step, l.config.Scope.Span())
	}
	l.draws = l.nodeDraws
	return nil
}

// Gaussian reports whether claims are µ; otherwise they are pure ε.
func (l *Law) Gaussian() bool { return l.weights != nil }

// Reach returns the largest loss that any test can find for this canary and age under the claimed law: the exact µ, or
// the largest possible score.
func (l *Law) Reach() float64 { return l.reach }

// Observer takes the releases of one run after another. It belongs to one goroutine, but a Law may have many observers.
type Observer struct {
	law     *Law
	release int
	score   float64
	seen    []float64 // projections of the marked releases on the canary's direction
	scratch []float64
}

// Observe returns an observer that has seen no release yet.
func (l *Law) Observe() *Observer {
	return &Observer{law: l, scratch: make([]float64, len(l.direction))}
}

// Release takes the next release of the run. It panics after the last one.
func (o *Observer) Release(y []float64) {
	l, t := o.law, o.release
	if t >= len(l.signal) || len(y) != len(l.direction) {
		panic(fmt.Sprintf("BUG: audit: release %d of %d with %d entries", t+1, len(l.signal), len(y)))
	}
	o.release++
	marked := len(o.seen) < len(l.marks) && l.marks[len(o.seen)] == t
	if marked || l.weights != nil {
		z := dot(l.direction, y) - l.signal[t]*l.middle
		if marked {
			o.seen = append(o.seen, z)
		}
		if l.weights != nil {
			o.score += l.weights[t] * z
		}
	}
	if l.singleNode != nil && l.singleNode[t] {
		o.score += o.distanceFrom(y, l.canary.Without, l.signal[t]) - o.distanceFrom(y, l.canary.With, l.signal[t])
	}
}

// distanceFrom returns the norm of y − m·contribution, in noise scales.
func (o *Observer) distanceFrom(y, contribution []float64, m float64) float64 {
	for i := range y {
		o.scratch[i] = (y[i] - m*contribution[i]) / o.law.scales[i]
	}
	return o.law.norm(o.scratch)
}

// Run is the part of a run that an audit keeps.
type Run struct {
	Canary bool    // the coin: whether the run has the canary
	Score  float64 // log-likelihood ratio of the run's releases under the claimed law, with over without, nats
	seen   []float64
}

// WithoutReleases returns only the coin and score of a run, so that many runs can be kept.
func (r Run) WithoutReleases() Run { return Run{Canary: r.Canary, Score: r.Score} }

// Result returns the finished run and makes the observer ready for the next one. It panics before the last release.
func (o *Observer) Result(canary bool) Run {
	if o.release != len(o.law.signal) {
		panic(fmt.Sprintf("BUG: audit: the run ends after %d of %d releases", o.release, len(o.law.signal)))
	}
	r := Run{Canary: canary, Score: o.score, seen: o.seen}
	o.release, o.score, o.seen = 0, 0, make([]float64, 0, len(o.law.marks))
	return r
}
