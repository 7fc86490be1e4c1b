package mechanisms

import (
	"errors"
	"fmt"
	"math"

	"oriel/mechanisms/blt"
	"oriel/mechanisms/decay"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/windowtree"
)

// Incremental is a Sum whose increments are public, for example a decaying sum.
type Incremental interface {
	Sum
	// Increments returns the increments of the last Add in lattice units. They are valid until the next Add or Restore.
	Increments() []lattice.Int128
}

// Reading is a sum of the increments of a component: with a memory other than the filter's, or without decay. It is
// post-processing of a stream's releases, exact in the stream's fixed-point numbers. Its owner must keep its state.
type Reading struct {
	sum   Incremental
	grid  lattice.Grid
	roots []float64
	tally *decay.Reading
}

// Reading returns a Reading of a component before the first step. With a memory of 0 increments add up without decay,
// and Clear must be called after at most 2³² of them. Only decaying sums have increments.
func (s *Stream) Reading(component int, memory uint64) (*Reading, error) {
	sum, ok := s.sums[component].(Incremental)
	if _, decays := s.Memory(); !ok || !decays {
		return nil, fmt.Errorf("mechanisms: %s without a memory has no increments to read", s.calibration.Name)
	}
	x := &s.components[component]
	tally, err := decay.NewReading(memory, x.to-x.from)
	if err != nil {
		return nil, err
	}
	return &Reading{sum: sum, grid: x.grid, roots: x.roots, tally: tally}, nil
}

// Increments returns the increments of a component's last Add in lattice units, or nil if its sum has none. They are
// valid until the next Add or Restore.
func (s *Stream) Increments(component int) []lattice.Int128 {
	sum, ok := s.sums[component].(Incremental)
	if _, decays := s.Memory(); !ok || !decays {
		return nil
	}
	return sum.Increments()
}

// Take adds the increments of the step that has just closed. It must be called once for each step, AFTER the Add that
// closed the step.
func (r *Reading) Take() { r.tally.Add(r.sum.Increments()) }

// Write writes the sum in loss units.
func (r *Reading) Write(dst []float64) {
	r.tally.Write(dst, r.grid)
	for i, root := range r.roots {
		dst[i] = float64(dst[i] * root)
	}
}

// Clear sets the sum to zero.
func (r *Reading) Clear() { r.tally.Clear() }

// StateLen returns the length of every state.
func (r *Reading) StateLen() int { return r.tally.StateLen() }

// AppendState appends the state.
func (r *Reading) AppendState(dst []byte) []byte { return r.tally.AppendState(dst) }

// Restore restores a state that AppendState wrote, or refuses it and leaves the reading unchanged. empty states that
// nothing was added before.
func (r *Reading) Restore(state []byte, empty bool) error { return r.tally.Restore(state, empty) }

// Deviation gives the noise of releases: the standard deviation of a coordinate of scale 1, in loss units, as a
// function of the step.
type Deviation struct {
	scale  float64                   // standard deviation of a single draw, loss units
	at     func(step uint64) float64 // variance of a release's noise, in units of a draw's variance
	end    uint64                    // the last step
	period uint64                    // steps between resets of the noise; 0: none
	nodes  int                       // largest number of nodes in a release; 0: the mechanism is no tree
}

// errNoDeviation is returned for mechanisms whose noise is neither Gaussian nor discrete.
var errNoDeviation = errors.New("mechanisms: standard deviations are known only for Gaussian and discrete Laplace noise")

// Deviation returns the deviation of a component's sums or, if memory is not the stream's, of a Reading with that
// memory. For discrete noise it is that of coordinates with a step of one unit; a larger step has less noise.
func (s *frame) Deviation(component int, memory uint64) (Deviation, error) {
	facts, _ := FactsOf(s.calibration.Name)
	if facts.Law != Gaussian && !facts.Discrete() {
		return Deviation{}, errNoDeviation
	}
	p := s.calibration.Component(component)
	d := Deviation{
		scale: float64(p.Scale.Float64() * p.Grid.Unit()), at: func(uint64) float64 { return 1 }, end: s.end,
	}
	if facts.Discrete() { // a Laplace law has twice the square of its scale
		d.at = func(uint64) float64 { return 2 }
	}
	own, decays := s.Memory()
	switch {
	case facts.Structure == PerStep && memory == 0:
	case facts.Structure == PerStep, !decays && memory > 0: // covers a tree, too
		return Deviation{}, fmt.Errorf("mechanisms: memory %d: %s without one has no increments to read", memory, s.calibration.Name)
	case facts.Structure == Tree:
		window := s.config.Scope.Span()
		d.nodes = windowtree.Depth(window)
		d.at = func(step uint64) float64 { return float64(windowtree.Active(window, step)) }
	case !decays:
		spread, err := blt.NewSpread(s.calibration.Filter)
		if err != nil {
			return Deviation{}, err
		}
		d.at = spread.At
	default:
		if memory == 0 {
			memory = own
		}
		spread, err := decay.NewSpread(s.calibration.Decay, memory)
		if err != nil {
			return Deviation{}, err
		}
		d.at, d.period = spread.At, s.calibration.Decay.Period()
	}
	return d, nil
}

// At returns the standard deviation after a step, counted from 1.
func (d Deviation) At(step uint64) float64 { return float64(math.Sqrt(d.at(step)) * d.scale) }

// Times returns the deviation of noise multiplied by factor.
func (d Deviation) Times(factor float64) Deviation {
	d.scale = float64(d.scale * factor)
	return d
}

// WindowDeviation returns the standard deviation, in loss units, of a coordinate of the sum of the last w increments of
// a component, in the middle of a block, where the filter's start no longer matters. It is 0 without a memory.
func (s *frame) WindowDeviation(component int, w uint64) float64 {
	if _, decays := s.Memory(); !decays {
		return 0
	}
	p := s.calibration.Component(component)
	return float64(math.Sqrt(s.calibration.Decay.WindowVariance(w)) * float64(p.Scale.Float64()*p.Grid.Unit()))
}

// IncrementFilter returns the numbers that determine the noise of increments: P, the steps between two resets, then the
// m poles q_k, then the m residues R_k in units of 2⁻³⁰. It returns nil without a memory. The noise of increment t is
// Σ_{j≥0} e_j·n_{t−j} over the draws n of its block, with e_0 = 1 and e_j = −ΣR_k·q_k^{j−1} (decay/doc.go).
func (s *frame) IncrementFilter() []float64 {
	if _, decays := s.Memory(); !decays {
		return nil
	}
	f := s.calibration.Decay
	numbers := []float64{float64(f.Period())}
	for _, of := range [2][decay.MaxPoles]uint32{f.Poles, f.Residues} {
		for _, x := range of[:f.Count] {
			numbers = append(numbers, float64(x))
		}
	}
	return numbers
}

const (
	// steadyPeriods is the number of periods after which the start no longer matters: even a reading of the longest
	// memory has kept less than 2⁻⁶² of it. If noise is never reset, steadySteps steps have the same effect.
	steadyPeriods = 1 << 16
	steadySteps   = 1 << 62
	// peakGrid determines the spacing of the ages that Worst evaluates: a 64th of the age.
	peakGrid = 64
)

// SteadyState returns the standard deviation long after the start: for sums that decay, at the end of a period, because
// most steps are far from a reset; for a stream with a horizon, at its last step. The number of nodes in a tree's
// release varies, so for a tree it is Worst.
func (d Deviation) SteadyState() float64 {
	switch {
	case d.nodes > 0:
		return float64(math.Sqrt(float64(d.nodes)) * d.scale)
	case d.end != protection.Endless:
		return d.At(d.end)
	case d.period > 0:
		return d.At(steadyPeriods * d.period)
	}
	return d.At(steadySteps)
}

// Worst returns the largest standard deviation of any step, to a thousandth. For decaying sums it occurs soon after a
// reset of the noise; for a tree, in a release with as many nodes as levels.
func (d Deviation) Worst() float64 {
	worst := d.SteadyState()
	if d.period == 0 {
		return worst // without resets the deviation grows with the step
	}
	for age := uint64(1); age < d.period; age += max(1, age/peakGrid) {
		worst = max(worst, d.At(steadyPeriods*d.period+age))
	}
	return worst
}

// Weight returns N_t = Σ_{s≤t} γ^{t−s}, the sum after t steps that each add 1: t without decay.
func Weight(s protection.Scope, t uint64) float64 {
	if memory, decays := s.Memory(); decays {
		return decay.Weight(memory, t)
	}
	return float64(t)
}

// NoiseLaw is the law of the noise in the differences of a component's successive sums (with a memory, in its
// increments). In units of a draw's standard deviation, with n_t independent and nearly N(0, 1),
//
//	noise_t = n_t + Σ_k Residues[k]·c_k,    then c_k ← Poles[k]·c_k + n_t,
//
// where c_k is zero before the first step and, if Period is not 0, after each Period steps.
type NoiseLaw struct {
	Poles, Residues []float64
	Period          uint64  // steps between resets of the noise
	Draw            float64 // standard deviation of a draw in a coordinate of scale 1, loss units
	Rounding        float64 // bound on the effect of rounding carry, draws and contributions on a coordinate
}

// NoiseLaw returns the noise law of a component whose noise comes from a filter.
func (s *frame) NoiseLaw(component int) (NoiseLaw, error) {
	facts, _ := FactsOf(s.calibration.Name)
	p := s.calibration.Component(component)
	_, decays := s.Memory()
	if facts.Law != Gaussian || facts.Structure != Filter && !decays {
		return NoiseLaw{}, fmt.Errorf("mechanisms: %s: the noise of this mechanism comes from no filter", s.calibration.Name)
	}
	// The error is at most 3 units, and ½ for the rounding of each contribution of the batch. The carry is within η ≤ ½
	// + 2⁻⁸ of its filter, so its difference from the previous step is off by at most 2η. A draw is rounded by at most
	// ½, which contributes at most ½(|b_0| + Σ|b_j − b_{j−1}|) ≤ 1.
	law := NoiseLaw{
		Draw:     float64(p.Scale.Float64() * p.Grid.Unit()),
		Rounding: float64((3 + float64(s.config.Batch)/2) * p.Grid.Unit()),
	}
	const unit = 1 << 30
	if decays {
		f := s.calibration.Decay
		for k := range f.Count {
			law.Poles = append(law.Poles, float64(f.Poles[k])/unit)
			law.Residues = append(law.Residues, -float64(f.Residues[k])/unit)
		}
		law.Period = f.Period()
		return law, nil
	}
	// b_j = Σ R_k·q_k^{j−1}, so b_1 − b_0 = ΣR_k − 1 and b_j − b_{j−1} = −Σ R_k(1 − q_k)/q_k·q_k^{j−1} for j ≥ 2. A
	// pole at 0 makes up for the missing term at j = 1.
	law.Poles, law.Residues = []float64{0}, []float64{-1}
	for k := range s.calibration.Filter.Count {
		q, r := float64(s.calibration.Filter.Poles[k])/unit, float64(s.calibration.Filter.Residues[k])/unit
		law.Poles, law.Residues = append(law.Poles, q), append(law.Residues, -float64(r*(1-q))/q)
		law.Residues[0] += r / q
	}
	return law, nil
}
