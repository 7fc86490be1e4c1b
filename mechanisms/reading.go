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

// Incremental is a Sum whose increments are public: those of a memory are.
type Incremental interface {
	Sum
	// Increments are those of the last Add, lattice units; valid until the next Add or Restore.
	Increments() []lattice.Int128
}

// Reading is a sum of the increments of a component: under another memory than the one that the filter was fitted for,
// or plain. It is post-processing of what a stream releases, exact in the stream's own fixed point, and its owner keeps
// its state.
type Reading struct {
	sum   Incremental
	grid  lattice.Grid
	roots []float64
	tally *decay.Reading
}

// Reading returns one of a component, before the first step. A memory of 0 adds increments up, until Clear: after 2³²
// of them at the latest. Only sums that decay have increments.
func (s *Stream) Reading(part int, memory uint64) (*Reading, error) {
	sum, ok := s.sums[part].(Incremental)
	if _, decays := s.Memory(); !ok || !decays {
		return nil, fmt.Errorf("mechanisms: %s without a memory has no increments to read", s.plan.Name)
	}
	x := &s.components[part]
	tally, err := decay.NewReading(memory, x.to-x.from)
	if err != nil {
		return nil, err
	}
	return &Reading{sum: sum, grid: x.grid, roots: x.roots, tally: tally}, nil
}

// Increments returns those of a component's last Add, lattice units, or nil where its sum has none; valid until the
// next Add or Restore.
func (s *Stream) Increments(part int) []lattice.Int128 {
	sum, ok := s.sums[part].(Incremental)
	if _, decays := s.Memory(); !ok || !decays {
		return nil
	}
	return sum.Increments()
}

// Take adds the increments of the step that has just closed: once, AFTER the Add that reported it.
func (r *Reading) Take() { r.tally.Add(r.sum.Increments()) }

// Write writes the sum, loss units.
func (r *Reading) Write(dst []float64) {
	r.tally.Write(dst, r.grid)
	for i, root := range r.roots {
		dst[i] = float64(dst[i] * root)
	}
}

// Clear starts again from zero.
func (r *Reading) Clear() { r.tally.Clear() }

// StateLen returns the length of every state.
func (r *Reading) StateLen() int { return r.tally.StateLen() }

// AppendState appends the state.
func (r *Reading) AppendState(dst []byte) []byte { return r.tally.AppendState(dst) }

// Restore takes what AppendState has written, or refuses it and stays as it was; empty says that nothing was added.
func (r *Reading) Restore(state []byte, empty bool) error { return r.tally.Restore(state, empty) }

// Deviation tells the noise of releases: the standard deviation of a coordinate of scale 1, loss units, as a function
// of the step.
type Deviation struct {
	scale  float64                   // of one draw, loss units
	at     func(step uint64) float64 // variance, in units of the draw's
	end    uint64                    // the last step there is
	period uint64                    // steps after which noise starts again; 0: never
	nodes  int                       // of a tree that a release holds, at most; 0: no tree
}

// errNoDeviation is of mechanisms whose noise is not Gaussian.
var errNoDeviation = errors.New("mechanisms: standard deviations are known of Gaussian noise alone")

// Deviation returns that of the sums of a component, or, with a memory other than the stream's, of a Reading with it.
func (s *frame) Deviation(part int, memory uint64) (Deviation, error) {
	facts, _ := FactsOf(s.plan.Name)
	if facts.Law != Gaussian {
		return Deviation{}, errNoDeviation
	}
	p := s.plan.Component(part)
	d := Deviation{
		scale: float64(p.Scale.Float64() * p.Grid.Unit()), at: func(uint64) float64 { return 1 }, end: s.end,
	}
	own, decays := s.Memory()
	switch {
	case facts.PerStep && memory == 0:
	case facts.PerStep, !decays && memory > 0: // of a tree too
		return Deviation{}, fmt.Errorf("mechanisms: memory %d: %s without one has no increments to read", memory, s.plan.Name)
	case facts.Tree:
		window := s.config.Scope.Span()
		d.nodes = windowtree.Depth(window)
		d.at = func(step uint64) float64 { return float64(windowtree.Active(window, step)) }
	case !decays:
		spread, err := blt.NewSpread(s.plan.Filter)
		if err != nil {
			return Deviation{}, err
		}
		d.at = spread.At
	default:
		if memory == 0 {
			memory = own
		}
		spread, err := decay.NewSpread(s.plan.Decay, memory)
		if err != nil {
			return Deviation{}, err
		}
		d.at, d.period = spread.At, s.plan.Decay.Period()
	}
	return d, nil
}

// At returns the standard deviation after a step, counted from 1.
func (d Deviation) At(step uint64) float64 { return float64(math.Sqrt(d.at(step)) * d.scale) }

// Times is that of noise which is so many times as large.
func (d Deviation) Times(factor float64) Deviation {
	d.scale = float64(d.scale * factor)
	return d
}

// WindowDeviation returns the standard deviation of a coordinate of the sum of the last w increments of a component,
// loss units, where the filter has forgotten the start of its block; 0 without a memory.
func (s *frame) WindowDeviation(part int, w uint64) float64 {
	if _, decays := s.Memory(); !decays {
		return 0
	}
	p := s.plan.Component(part)
	return float64(math.Sqrt(s.plan.Decay.WindowVariance(w)) * float64(p.Scale.Float64()*p.Grid.Unit()))
}

// IncrementFilter returns what the noise of increments follows from: P, steps between two resets, then the m poles q_k
// and then the m residues R_k in units of 2⁻³⁰; nil without a memory. The noise of increment t is Σ_{j≥0} e_j·n_{t−j}
// over the draws n of its block, with e_0 = 1 and e_j = −ΣR_k·q_k^{j−1} (decay/doc.go).
func (s *frame) IncrementFilter() []float64 {
	if _, decays := s.Memory(); !decays {
		return nil
	}
	f := s.plan.Decay
	numbers := []float64{float64(f.Period())}
	for _, of := range [2][decay.MaxPoles]uint32{f.Poles, f.Residues} {
		for _, x := range of[:f.Count] {
			numbers = append(numbers, float64(x))
		}
	}
	return numbers
}

const (
	// steadyPeriods is after how many periods, or steadySteps steps where noise never starts again, nothing of the
	// start is left: what a reading of the longest memory has kept of it is below 2⁻⁶².
	steadyPeriods = 1 << 16
	steadySteps   = 1 << 62
	// peakGrid is one over the relative distance of two ages at which Worst looks.
	peakGrid = 64
)

// SteadyState returns the standard deviation long after the start: of sums that decay at the end of a period, where it
// is the longest; of a stream that ends, at its end. Of a tree, whose releases hold now more nodes and now fewer, it is
// Worst.
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

// Worst returns the largest standard deviation that a step has, to a thousandth: of sums that decay, soon after their
// noise started again; of a tree with as many nodes as it has levels.
func (d Deviation) Worst() float64 {
	worst := d.SteadyState()
	if d.period == 0 {
		return worst // it grows with the step
	}
	for age := uint64(1); age < d.period; age += max(1, age/peakGrid) {
		worst = max(worst, d.At(steadyPeriods*d.period+age))
	}
	return worst
}

// Weight returns N_t = Σ_{s≤t} γ^{t−s}, what sums hold of t equal steps: t where nothing decays.
func Weight(s protection.Scope, t uint64) float64 {
	if memory, decays := s.Memory(); decays {
		return decay.Weight(memory, t)
	}
	return float64(t)
}
