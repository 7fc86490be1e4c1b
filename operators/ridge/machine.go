package ridge

import (
	"errors"
	"math"

	"oriel/mechanisms"
	"oriel/mechanisms/lattice"
	"oriel/operators"
	"oriel/operators/moments"
	"oriel/schemas/decision"
)

// Machine implements operators.Machine. The index of a decision is its step. No decision is due before the first
// record.
type Machine struct {
	operators.Base
	operator
	deviation mechanisms.Deviation
	edge      float64 // κ before it is doubled

	point     []float64 // the decision: weights in units of the label per unit of a feature
	doublings uint64    // number of doublings of κ in all decisions so far

	system  system
	theta   []float64 // weights of z in units of the label, scratch
	cross   []float64 // released Σ z·y, scratch
	inverse []float64 // scratch: V⁻¹θ

	members    *members
	extras     []decision.ExtraValue
	deviations []float64 // standard deviations of the weights, which extras share
}

var _ operators.Machine = (*Machine)(nil)

// system solves equations with a released matrix: moments.System, or moments.Spectrum.
type system interface {
	Factor(m moments.Symmetric, scale, edge, add float64) bool
	Solve(dst, b []float64)
	Rows(dst []float64)
	Used() (edge float64, doublings int)
}

// newMachine returns the machine at step 0 over a stream of the rows' contribution. It takes ownership of the stream.
func newMachine(c operator, stream *mechanisms.Stream) (*Machine, error) {
	base := operators.Base{Operator: "ridge", Stream: stream, Every: c.every}
	if err := base.CheckStream(c.rows.Size(), c.rows.Entries(), c.terms, c.batch); err != nil {
		return nil, err
	}
	d := c.rows.Features
	m := &Machine{
		Base: base, operator: c, point: make([]float64, d),
		system: moments.NewSystem(d), theta: make([]float64, d),
		cross: make([]float64, d), inverse: make([]float64, d), members: c.members(), deviations: make([]float64, d),
	}
	if c.raise {
		m.system = moments.NewSpectrum(d)
	}
	var err error
	if m.deviation, err = stream.Deviation(0, 0); err != nil {
		return nil, err
	}
	m.edge = float64(c.shift * moments.Edge(d, m.deviation.Worst()))
	m.extras = m.members.Values()
	m.members.deviation.Set(m.extras, m.deviations)
	m.defineState()
	return m, nil
}

// Open appends no decision, because the first weights are zero and therefore known.
func (m *Machine) Open(dst []operators.Decision) []operators.Decision { return dst }

// Add adds the row of a record. A record without a row counts as null.
func (m *Machine) Add(r operators.Record) { m.Stream.Add(r.Identity, m.contribution(r)) }

// Close publishes the weights of the step, if a decision is due.
func (m *Machine) Close(dst []operators.Decision) []operators.Decision {
	m.Stream.Close()
	t := m.Stream.Step()
	if t%m.every != 0 {
		return dst
	}
	m.decide(t)
	return append(dst, operators.Decision{Index: t, Step: t, Point: m.point, Extras: m.extras})
}

// contribution returns the numbers that a record adds to the stream, or nil. They are the row (z; y) times √w, with w
// clamped to 1. For innovation, y is the label's residual against the published decision.
func (m *Machine) contribution(r operators.Record) []float64 {
	contribution := m.Stream.Scratch()
	d := m.rows.Features
	if r.Null || !m.row(contribution[:d], r.Event) {
		return nil
	}
	y := (max(m.middle-m.half, min(m.middle+m.half, r.Event.Label)) - m.middle) / m.half
	if m.innovation {
		prediction := m.middle + float64(m.features*lattice.Dot(contribution[:d], m.point))
		y = max(-1, min(1, (r.Event.Label-prediction)/m.residual))
	}
	contribution[d] = y
	if root := math.Sqrt(min(1, r.Event.Weight)); root < 1 {
		for i, x := range contribution {
			contribution[i] = float64(x * root)
		}
	}
	return contribution
}

// weight returns N_t, the number of events in t steps, including null events. With a memory each event counts with its
// remaining weight.
func (m *Machine) weight(t uint64) float64 {
	return float64(float64(m.batch) * mechanisms.Weight(m.terms.Scope, t))
}

// decide solves for the weights of step t and computes their accuracy, all from releases.
func (m *Machine) decide(t uint64) {
	sums, n := m.rows.Moments(m.Stream.Sum(0), 0), m.weight(t)
	regulariser, scale, unit := m.start+float64(m.convexity*n), 1.0, m.half
	if m.innovation {
		scale, unit = m.gain/n, m.residual
	}
	sums.Cross(m.cross)
	clear(m.theta)
	solved := m.system.Factor(sums.Symmetric, scale, m.edge, regulariser)
	if solved {
		m.system.Solve(m.theta, m.cross)
	}
	moments.Cap(m.theta, float64(float64(m.maxWeights*m.half)/unit))
	shift, doublings := m.system.Used()
	m.doublings += uint64(doublings)
	m.estimateErrors(float64(m.deviation.At(t)), sums.Label, solved)
	for i, x := range m.theta {
		m.point[i] = float64(x*unit) / m.features
		m.deviations[i] = finite(float64(m.deviations[i]*unit) / m.features)
	}
	m.members.residual.Set(m.extras, float64(math.Sqrt(max(0, m.squares(sums)/n))*unit))
	m.members.shift.Set(m.extras, shift)
	m.members.doublings.Set(m.extras, float64(m.doublings))
}

// finite returns x, or the largest float64 if x is infinite, as for a tiny regulariser. An infinite deviation could not
// be encoded.
func finite(x float64) float64 {
	if !(x <= math.MaxFloat64) {
		return math.MaxFloat64
	}
	return x
}

// estimateErrors writes the standard deviations of θ (PROOF.md, claim 2).
func (m *Machine) estimateErrors(sd, label float64, solved bool) {
	out := m.deviations
	clear(out)
	if !solved {
		return
	}
	m.system.Rows(out)
	side := sd / label
	if m.innovation {
		for i, length := range out {
			out[i] = float64(side * length)
		}
		return
	}
	m.system.Solve(m.inverse, m.theta)
	both := float64(side*side) + float64(float64(sd*sd)*lattice.Dot(m.theta, m.theta))
	for i, length := range out {
		inverse := float64(sd * m.inverse[i])
		out[i] = math.Sqrt(float64(both*float64(length*length)) + float64(inverse*inverse))
	}
}

// squares returns a sum from released moments: Σ(y − ⟨z, θ⟩)² for the update moments, and Σr² for innovation.
func (m *Machine) squares(sums moments.Moments) float64 {
	total := sums.Square()
	if m.innovation {
		return total
	}
	for i, x := range m.theta {
		row := 0.0
		for j, y := range m.theta {
			row += float64(sums.Gram(i, j) * y)
		}
		total += float64(x * (row - float64(2*m.cross[i])))
	}
	return total
}

// The fields of a state are the weights, d floats, and the number of doublings, u64.
const stateVersion = 1

// defineState lists the fields of the state of a machine that newMachine has made.
func (m *Machine) defineState() {
	limit := float64(m.maxWeights*m.half) / m.features
	longest := float64(limit * (1 + 1e-9))
	m.Version = stateVersion
	m.Fields = []operators.Field{
		operators.Floats(m.point, func() error {
			if !(lattice.Norm(m.point) <= longest) {
				return errors.New("weights longer than they can be")
			}
			return nil
		}),
		operators.Counter(&m.doublings),
	}
	m.Check = func() error {
		if m.Stream.Step() < m.every && (m.doublings != 0 || lattice.Norm(m.point) != 0) {
			return errors.New("weights before there was a decision")
		}
		return nil
	}
}
