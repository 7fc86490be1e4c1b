package bandit

import (
	"errors"
	"math"
)

// baseline estimates β, the value from which losses are measured, on the scale of mapped losses in [−1, 1]: a
// contribution is (v − β)·u. The estimate uses only releases. Let U be the sum of the directions that a step adds, and
// s_t − s_{t−1} the difference of its release from the one before. Then ⟨s_t − s_{t−1}, U⟩ + β·|U|² is |U|² times the
// step's mean loss, plus noise of mean 0. This holds because the directions of a step are independent of its noise and
// of all earlier releases. The mean over all steps, weighted by |U|², is shrunk towards ORIEL_BASELINE, the more the
// larger the noise is (SPEC.md §1).
type baseline struct {
	first float64 // β before the first release
	bound float64 // bound on |β|
	sums  []float64
	last  []float64 // the previous step's release
	along []float64 // U of the open step, from the answers so far
}

// These are the indices of baseline.sums.
const (
	means   = iota // Σ |U|² times the mean loss of the step
	weights        // sum of the weights |U|²
	squares        // Σ |s_t − s_{t−1}|²
	steps          // number of steps with an answer; the sums have only these
	sumsLen
)

func newBaseline(n int, share, bound float64) *baseline {
	return &baseline{
		first: float64(2*share) - 1, bound: bound,
		sums: make([]float64, sumsLen), last: make([]float64, n), along: make([]float64, n),
	}
}

// spread is the prior variance of the mean loss: the variance of a uniform law on [−1, 1].
const spread = 1.0 / 3

// value returns β: the average of the estimate and the configured baseline, weighted by their precisions. The mean
// square of a release's coordinates stands for the variance of the noise; it also includes some signal.
func (b *baseline) value() float64 {
	if b.sums[weights] == 0 {
		return b.first
	}
	variance := b.sums[squares] / float64(b.sums[steps]*float64(len(b.last)))
	prior := variance / spread
	found := (b.sums[means] + float64(prior*b.first)) / (b.sums[weights] + prior)
	return max(-b.bound, min(b.bound, found))
}

// add adds the direction of an answer to the open step. An answer without a loss counts as a loss equal to the
// baseline.
func (b *baseline) add(u []float64) {
	for i, x := range u {
		b.along[i] += x
	}
}

// learn updates the estimate with the release of the step that closed.
func (b *baseline) learn(released []float64) {
	inner, long, square := 0.0, 0.0, 0.0
	for i, s := range released {
		more, u := s-b.last[i], b.along[i]
		inner += float64(more * u)
		long += float64(u * u)
		square += float64(more * more)
	}
	beta := b.value()
	copy(b.last, released)
	clear(b.along)
	if long == 0 {
		return
	}
	b.sums[means] += inner + float64(beta*long)
	b.sums[weights] += long
	b.sums[squares] += square
	b.sums[steps]++
}

// check refuses a state whose sums cannot come from any releases.
func (b *baseline) check() error {
	for _, v := range [][]float64{b.sums, b.last, b.along} {
		for _, x := range v {
			if !(math.Abs(x) <= math.MaxFloat64) {
				return errors.New("a baseline of numbers that are not finite")
			}
		}
	}
	if b.sums[weights] < 0 || b.sums[squares] < 0 || b.sums[steps] < 0 {
		return errors.New("a baseline of negative weights")
	}
	return nil
}
