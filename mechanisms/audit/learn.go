package audit

import (
	"gonum.org/v1/gonum/mat"
)

// learner finds the linear statistic that best predicts the coins of its runs. The statistic is Fisher's discriminant
// (1936): weights Ĉ⁻¹m, with the signal m from the claim. Ĉ is the covariance of the marked releases, estimated within
// the runs with the canary and within those without.
type learner struct {
	signal  []float64 // signal in the marked releases
	count   [2]float64
	sum     [2][]float64
	product *mat.SymDense

	weights []float64
	middle  float64 // midpoint of the two means of the statistic
}

func newLearner(l *Law) *learner {
	n := len(l.marks)
	e := &learner{product: mat.NewSymDense(n, nil)}
	e.sum[0], e.sum[1] = make([]float64, n), make([]float64, n)
	for _, t := range l.marks {
		e.signal = append(e.signal, l.signal[t])
	}
	return e
}

// add learns from a run.
func (e *learner) add(r Run) {
	kind := kindOf(r.Canary)
	e.count[kind]++
	for i, x := range r.seen {
		e.sum[kind][i] += x
	}
	e.product.SymRankOne(e.product, 1, mat.NewVecDense(len(r.seen), r.seen))
}

// ridge is added to the diagonal, relative to its mean, so that a covariance made singular by a fault can be solved.
// Then the statistic finds a noiseless combination up to a relative error of 10⁻⁴, and all weights are finite.
const ridge = 1e-9

// fit computes the weights; no more runs are learned after it.
func (e *learner) fit() {
	n := len(e.signal)
	within := mat.NewSymDense(n, nil)
	within.CopySym(e.product)
	total := 0.0
	for kind, count := range e.count {
		if count > 0 {
			within.SymRankOne(within, -1/count, mat.NewVecDense(n, e.sum[kind]))
		}
	}
	for i := range n {
		total += within.At(i, i)
	}
	for i := range n {
		within.SetSym(i, i, within.At(i, i)+ridge*total/float64(n)+1e-300)
	}
	e.weights = append([]float64(nil), e.signal...)
	var c mat.Cholesky
	if c.Factorize(within) {
		// The error only warns that the matrix is badly conditioned.
		_ = c.SolveVecTo(mat.NewVecDense(n, e.weights), mat.NewVecDense(n, e.signal))
	}
	for kind, count := range e.count {
		if count > 0 {
			e.middle += dot(e.weights, e.sum[kind]) / count / 2
		}
	}
}

// guess returns the guessed coin of a later run.
func (e *learner) guess(r Run) bool { return dot(e.weights, r.seen) > e.middle }

func kindOf(canary bool) int {
	if canary {
		return 1
	}
	return 0
}
