package linucb

import (
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/operators/moments"
)

// model holds the estimates for all arms from one release: their weights and their uncertainty. It is a function of the
// settings, the release, and the number of earlier doublings of the shift.
type model struct {
	operator
	bounds bounds

	release   []float64 // release from which the model was solved
	step      uint64    // step of the release; 0: there was none yet
	doublings uint64

	arms    []arm           // solution for each block
	trial   *moments.System // scratch if ORIEL_SOLVE is doubled, otherwise nil
	weights []float64       // weights of all arms, in units of rewards per unit of a feature
	cross   []float64       // scratch: the right side u of an arm
}

// arm is the solution of one block.
type arm struct {
	system *moments.System
	known  bool // the arm has a factorised matrix; without one all arms look equal
	theta  []float64
	width  float64
}

func newModel(c operator, stream *mechanisms.Stream) (*model, error) {
	deviation, err := stream.Deviation(0, 0)
	if err != nil {
		return nil, err
	}
	d := c.rows.Features
	m := &model{
		operator: c, bounds: c.bound(deviation.Worst()), release: make([]float64, c.rows.Size()),
		arms: make([]arm, c.blocks()), weights: make([]float64, c.blocks()*d), cross: make([]float64, d),
	}
	for i := range m.arms {
		m.arms[i] = arm{system: moments.NewSystem(d), theta: make([]float64, d)}
	}
	if c.doubling {
		m.trial = moments.NewSystem(d)
	}
	m.reset()
	return m, nil
}

// reset sets the model that holds before the first release: zero sums without noise.
func (m *model) reset() {
	clear(m.release)
	m.compute()
	m.step, m.doublings = 0, 0
}

// solve takes the release of a step. With ORIEL_SOLVE=doubled the model stays unchanged unless an arm's determinant has
// doubled.
func (m *model) solve(release []float64, step uint64) {
	if m.doubling && !m.determinantDoubled(release) {
		return
	}
	copy(m.release, release)
	m.step = step
	m.doublings += m.compute()
}

// determinantDoubled reports whether an arm's determinant is twice that of its model, or its matrix cannot be
// factorised: the rule of Abbasi-Yadkori, Pál and Szepesvári, "Improved Algorithms for Linear Stochastic Bandits"
// (NeurIPS 2011), section 5.1, at C = 1. It is a function of releases.
func (m *model) determinantDoubled(release []float64) bool {
	for i := range m.arms {
		a := &m.arms[i]
		if !a.known || !m.trial.Factor(m.rows.Moments(release, i).Symmetric, 1, m.bounds.shift, m.start) ||
			m.trial.LogDeterminant() >= a.system.LogDeterminant()+math.Ln2 {
			return true
		}
	}
	return false
}

// compute solves the model for all arms, and returns how often it had to double a shift.
func (m *model) compute() (doublings uint64) {
	d := m.rows.Features
	for i := range m.arms {
		a := &m.arms[i]
		sums := m.rows.Moments(m.release, i)
		sums.Cross(m.cross)
		clear(a.theta)
		a.known = a.system.Factor(sums.Symmetric, 1, m.bounds.shift, m.start)
		doublings += uint64(a.system.Doublings)
		if a.known {
			a.system.Solve(a.theta, m.cross)
		}
		if a.width = m.width; m.confidence > 0 {
			a.width = m.bounds.width(a)
		} else {
			moments.Cap(a.theta, m.maxWeights)
		}
		for k, x := range a.theta {
			m.weights[i*d+k] = float64(x*m.half) / m.unit()
		}
	}
	return doublings
}

// score returns the upper confidence bound on the reward of z, in units of half the range of rewards.
func (m *model) score(block int, z []float64) float64 {
	a := &m.arms[block]
	score := lattice.Dot(a.theta, z)
	if a.width > 0 && a.known {
		score += float64(a.width * a.system.Length(z))
	}
	return score
}

// widest returns the largest width and the largest shift of all arms.
func (m *model) widest() (width, shift float64) {
	for i := range m.arms {
		width, shift = max(width, m.arms[i].width), max(shift, m.arms[i].system.Shift)
	}
	return min(width, math.MaxFloat64), min(shift, math.MaxFloat64)
}
