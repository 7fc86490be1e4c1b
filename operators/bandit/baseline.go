package bandit

import (
	"errors"
	"math"
)

// baseline is what losses are measured from, β in [−1, 1] as mapped losses are: contributions are (v − β)·u. It is
// found in what was released. With U the sum of directions that a step adds, and s_t − s_{t−1} what its release adds to
// the one before, ⟨s_t − s_{t−1}, U⟩ + β·|U|² is |U|² times the step's mean loss, and noise of mean 0: directions of a
// step are independent of all releases before it, and of its noise. The mean over all steps, each with its weight |U|²,
// is drawn to ORIEL_BASELINE as far as noise asks for (SPEC.md §1).
type baseline struct {
	first float64 // β before any release
	most  float64 // bounds |β|
	sums  []float64
	last  []float64 // release before the open step
	along []float64 // U of the open step, so far
}

// Of baseline.sums.
const (
	means   = iota // Σ |U|² times mean losses
	weights        // Σ |U|²
	squares        // Σ |s_t − s_{t−1}|²
	steps          // of these sums: those with an answer
	sumsLen
)

func newBaseline(n int, share, most float64) *baseline {
	return &baseline{
		first: float64(2*share) - 1, most: most,
		sums: make([]float64, sumsLen), last: make([]float64, n), along: make([]float64, n),
	}
}

// spread is the variance of mean losses over worlds that nothing is known of: that of a uniform law on [−1, 1].
const spread = 1.0 / 3

// value is β: the mean of what was found and of what was told, weighted by their precisions. The variance of a
// release's coordinate stands for that of noise: it is that, and some signal.
func (b *baseline) value() float64 {
	if b.sums[weights] == 0 {
		return b.first
	}
	variance := b.sums[squares] / float64(b.sums[steps]*float64(len(b.last)))
	told := variance / spread
	found := (b.sums[means] + float64(told*b.first)) / (b.sums[weights] + told)
	return max(-b.most, min(b.most, found))
}

// add notes the direction of an answer in the open step. One that says nothing counts as one at the baseline.
func (b *baseline) add(u []float64) {
	for i, x := range u {
		b.along[i] += x
	}
}

// learn takes the release of the step that closed.
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

// check refuses sums that no releases have.
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
