package mechanisms

import (
	"fmt"
	"slices"

	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
)

// Mechanism is the part that all streams with one configuration and calibration share: guarantee, sampler, filter and
// scratch, checked and computed once. A further stream costs only its own state.
//
// Only one stream of an opened mechanism may be in use at a time: from one goroutine, or behind one lock, because the
// streams share scratch memory. No call reads scratch data of another call.
type Mechanism struct {
	frame
	fresh func() []Sum
}

// frame is the part of an opened mechanism that its streams read.
type frame struct {
	config       Config
	calibration  Calibration
	guarantee    protection.Guarantee
	end          uint64 // the last step
	scratch      *noise.Scratch
	components   []openedComponent
	entries      int     // length of a record's vector
	contribution []int64 // scratch: the last record's contribution
	pairs        []int64 // scratch: the contribution as places and values; nil if the key chain absorbs all integers
	undo         []byte  // scratch for Restore: states of sums
	callers      []float64
	law          Exponential  // for an exponential mechanism; otherwise zero
	choices      *drawScratch // scratch for draws
}

// openedComponent is a component in the form that streams use.
type openedComponent struct {
	from, to  int // range of this component's coordinates in the contribution
	entries   int
	grid      lattice.Grid
	quantiser contribution.Quantiser
	local     contribution.Local // the quantiser, if it is one
	low, high int                // range outside which the last record's contribution is zero
	zeroOut   lattice.Int128     // squared ℓ2 distance of a contribution from zero, units²
	absolute  uint64             // ℓ1 distance of a contribution from zero, units, for discrete noise
	steps     []int64            // steps of coordinates, for discrete noise; otherwise nil
	bound     int64              // for an exponential mechanism: bound on each integer of a contribution; otherwise 0
	disjoint  bool               // Draws.Disjoint
	roots     []float64          // √k_i, scaling of each coordinate; nil when all are 1
	scaled    []float64          // scratch for the default quantiser when roots scale the vector
}

// quantise writes the contribution of v to dst, which holds the previous record's. A contribution longer than the
// quantiser's zero-out distance becomes the zero contribution. So even with a faulty quantiser two contributions are at
// most twice this distance apart, and sums of contributions cannot overflow. A Local quantiser gets only its range of
// dst, so that no other coordinate can differ from zero.
func (x *openedComponent) quantise(dst []int64, v []float64) {
	switch {
	case x.quantiser != nil:
		clear(dst[x.low:x.high])
		if x.local == nil {
			x.quantiser.Quantise(x.grid, dst, v)
		} else {
			x.low, x.high = x.local.Range(v)
			dst = dst[x.low:x.high]
			x.local.QuantiseRange(x.grid, dst, v)
		}
		if !x.allows(dst) {
			clear(dst)
		}
	case x.roots != nil:
		for i, root := range x.roots {
			x.scaled[i] = v[i] / root
		}
		x.grid.Quantise(dst, x.scaled)
	default:
		x.grid.Quantise(dst, v)
	}
}

// allows reports whether a contribution, of which n is the range from low on, is within all bounds.
func (x *openedComponent) allows(n []int64) bool {
	switch {
	case !x.grid.ContainsUpTo(n, x.zeroOut):
		return false
	case x.steps != nil && !contribution.Within(n, x.low, x.absolute, x.steps):
		return false
	case x.bound > 0 && len(n) > 0 && (slices.Max(n) > x.bound || slices.Min(n) < -x.bound):
		return false
	}
	return !x.disjoint || atMostOneNonzero(n)
}

// atMostOneNonzero reports whether at most one number differs from 0.
func atMostOneNonzero(v []int64) bool {
	some := false
	for _, x := range v {
		if x != 0 && some {
			return false
		}
		some = some || x != 0
	}
	return true
}

// NewMechanism checks a calibration against a configuration, and computes the guarantee that it proves.
func NewMechanism(c Config, p Calibration) (*Mechanism, error) {
	guarantee, err := p.Guarantee(c)
	if err != nil {
		return nil, err
	}
	return opened(c, p, guarantee)
}

// Clone returns the mechanism with its own scratch, for another goroutine. It repeats no proof, because the guarantee
// is a function of configuration and calibration.
func (s *Mechanism) Clone() *Mechanism {
	clone, err := opened(s.config, s.calibration, s.guarantee)
	if err != nil {
		panic("BUG: mechanisms: an opened calibration has no sums: " + err.Error())
	}
	return clone
}

// opened is NewMechanism for a calibration whose guarantee is already computed.
func opened(c Config, p Calibration, guarantee protection.Guarantee) (*Mechanism, error) {
	fresh, err := p.sums(c, nil)
	if err != nil {
		return nil, fmt.Errorf("mechanisms: calibration: %w", err)
	}
	return &Mechanism{newFrame(c, p, guarantee), fresh}, nil
}

func newFrame(c Config, p Calibration, guarantee protection.Guarantee) frame {
	f := frame{
		config: c, calibration: p, guarantee: guarantee, end: c.Scope.End(),
		scratch: noise.NewScratch(), contribution: make([]int64, c.Dimension()),
	}
	from := 0
	facts, _ := FactsOf(p.Name)
	for i, component := range c.Contribution.Components {
		x := openedComponent{
			from: from, to: from + component.Size, entries: component.Entries(),
			grid: p.Component(i).Grid, quantiser: component.Quantiser, roots: contribution.Roots(component.Scales),
		}
		x.local, _ = component.Quantiser.(contribution.Local)
		x.high = component.Size
		_, x.zeroOut = component.Distances(x.grid)
		if facts.Discrete() {
			_, x.absolute = component.AbsoluteDistances(x.grid)
			x.steps = component.Steps(x.grid)
		}
		if x.roots != nil && x.quantiser == nil {
			x.scaled = make([]float64, component.Size)
		}
		f.components = append(f.components, x)
		f.entries, from = f.entries+x.entries, x.to
	}
	if c.Contribution.Names > 0 {
		f.entries = 0 // records carry names (AddName), so Add takes none with numbers
	}
	f.callers, f.choices = make([]float64, f.entries), &drawScratch{}
	if facts.Structure == Selection {
		f.law, f.components[0].bound = p.DrawLaw(c), c.Contribution.Components[0].Largest(p.Grid)
		f.components[0].disjoint = c.Draws.Disjoint
	}
	if c.Contribution.Nonzero > 0 {
		f.pairs = make([]int64, 0, c.Contribution.Absorbed())
	}
	return f
}

// absorbed returns the integers that the chain absorbs for a contribution: all of them, or only the places and values
// of the nonzero ones in order, which determine the contribution too. The null event stays nil; the zero contribution
// must not become nil.
func (s *frame) absorbed(integers []int64) []int64 {
	if integers == nil || s.pairs == nil {
		return integers
	}
	s.pairs = s.pairs[:0]
	for k := range s.components {
		of := &s.components[k]
		low := of.from + of.low
		for i, x := range integers[low : of.from+of.high] {
			if x != 0 {
				s.pairs = append(s.pairs, int64(low+i), x)
			}
		}
	}
	return s.pairs
}

// Open opens a stream before its first record. key is k₀, 256 secret random bits that no other stream may have.
func (s *Mechanism) Open(key [32]byte) *Stream { return s.over(key, s.fresh()) }

// over returns a stream over the given sums, before their first step.
func (s *frame) over(key [32]byte, sums []Sum) *Stream {
	n := len(s.contribution)
	stream := &Stream{
		frame: s, chain: s.scratch.Chain(key), sums: sums, partial: make([]lattice.Int128, n), recent: make([]int64, n),
		released: make([]float64, n),
	}
	if s.law != (Exponential{}) {
		stream.draws = &drawState{totals: make([]int64, n)}
	}
	return stream
}

// Scratch returns a vector with room for the numbers of a record, in which a caller can build them. All streams of an
// opened mechanism share it, so its contents are valid only until the caller uses another stream.
func (s *frame) Scratch() []float64 { return s.callers }

// Dimension returns the number of coordinates of all components: n for the default contribution.
func (s *frame) Dimension() int { return len(s.contribution) }

// Components returns the number of components.
func (s *frame) Components() int { return len(s.components) }

// Batch returns B, or 0 if steps have no number of records.
func (s *frame) Batch() uint64 { return s.config.Batch }

// PerStep reports whether releases are of single steps, instead of prefix sums.
func (s *frame) PerStep() bool {
	facts, _ := FactsOf(s.calibration.Name)
	return facts.Structure == PerStep
}

// End returns the last step, after which Stream.Add panics, or protection.Endless.
func (s *frame) End() uint64 { return s.end }

// Terms returns the unit that is protected, and for how long.
func (s *frame) Terms() protection.Terms { return s.config.Terms }

// Memory returns H, and true, if sums decay by 1 − 1/H a step.
func (s *frame) Memory() (steps uint64, decays bool) { return s.config.Scope.Memory() }

// ErrorBound returns Calibration.ErrorBound, which is for the first component; Calibration.Components has the others.
func (s *frame) ErrorBound() float64 { return s.calibration.ErrorBound }

// Guarantee returns the guarantee that each stream proves.
func (s *frame) Guarantee() protection.Guarantee { return s.guarantee }
