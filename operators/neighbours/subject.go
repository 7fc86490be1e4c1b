package neighbours

import (
	"errors"
	"fmt"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
)

// Subject is a machine as it is configured. It must stay as it is from the first comparison on.
type Subject struct {
	Mechanism   mechanisms.Config
	Calibration mechanisms.Calibration
	Key         [32]byte // k₀ of both streams

	// Open returns the machine at step 0, which takes the stream over.
	Open func(stream *mechanisms.Stream) (operators.Machine, error)

	// Sums makes the private sums over a sampler: the calibration's, or in tests those with a planted fault.
	Sums func(sampler noise.Sampler) ([]mechanisms.Sum, error)

	// Own says that the k-th decision of the second topic in a step answers the step's k-th record. KeyText is the place
	// among its extras of the key that it answers, −1 for none.
	Own     bool
	KeyText int

	opened *frame
}

// New returns the subject of a machine whose decisions all follow from releases.
func New(
	c mechanisms.Config, p mechanisms.Calibration, key [32]byte,
	open func(stream *mechanisms.Stream) (operators.Machine, error),
) *Subject {
	s := &Subject{Mechanism: c, Calibration: p, Key: key, Open: open, KeyText: -1}
	s.Sums = func(sampler noise.Sampler) ([]mechanisms.Sum, error) { return p.SumsOver(c, sampler) }
	return s
}

// Couple is a record, and what stands in its place in the neighbouring stream. Their slices stay as they are.
type Couple struct {
	Record, Neighbour operators.Record
	Exchanged         bool // the two differ
}

// Source makes the records of a pair one after the other, because they may follow from what was published.
type Source interface {
	// Next returns the records at a place of a step. Identities are set by the caller.
	Next(step uint64, place int) Couple

	// Observe takes the decisions that the record brought about, or before the first one those that were owed.
	Observe(decisions []operators.Decision)
}

// Report is what a pair of runs has shown.
type Report struct {
	Fault string    // which step differs in what; empty: nothing
	Steps []uint64  // in which contributions differ
	Moved [][]int64 // by component, the longest difference of contributions, lattice units
}

// frame is a Subject with what all its runs share.
type frame struct {
	*Subject
	samplers   []noise.Sampler // of each component; nil where nothing is drawn
	components []definition.Component
	claimed    []lattice.Int128 // squares of distances, units²
	kept       float64          // of a release in the next one
	prefix     bool             // releases hold contributions: all but those of draws
	law        mechanisms.Exponential
	seats      []*seat
	guarantee  protection.Guarantee // of each of them
}

func (s *Subject) frame() (*frame, error) {
	if s.opened != nil {
		return s.opened, nil
	}
	c, p := s.Mechanism, s.Calibration
	facts, known := mechanisms.FactsOf(c.Name)
	if !known {
		return nil, fmt.Errorf("neighbours: mechanism %q", c.Name)
	}
	f := &frame{
		Subject: s, components: definition.Components(c, p), kept: definition.Kept(p), prefix: !facts.Draws,
	}
	var errs []error
	for k, part := range c.Contribution.Components {
		sampler, err := samplerOf(facts.Law, p.Component(k).Scale, part.Size)
		errs = append(errs, err)
		f.samplers = append(f.samplers, sampler)
		f.claimed = append(f.claimed, claimed(c, part, f.components[k].Grid))
	}
	if facts.Draws {
		f.law = p.DrawLaw(c)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.opened = f
	return f, nil
}

// claimed is the square of how far the exchange of an event moves a component, by its quantiser, lattice units.
func claimed(c mechanisms.Config, part contribution.Component, g lattice.Grid) lattice.Int128 {
	replace, zeroOut := part.Distances(g)
	if c.Unit.AgainstNull() || replace.Less(zeroOut) {
		return zeroOut
	}
	return replace
}

// samplerOf returns the sampler of a law and a scale: the second opinion on which the mechanism draws from.
func samplerOf(law mechanisms.Law, scale noise.Scale, n int) (noise.Sampler, error) {
	switch law {
	case mechanisms.Gaussian:
		return noise.NewGaussian(scale)
	case mechanisms.Gamma:
		return noise.NewGamma(scale, n)
	case mechanisms.Laplace:
		return noise.NewLaplace(scale)
	case mechanisms.Gumbel: // of draws, which have no sampler
	}
	return nil, nil
}

// vectors is how many noise vectors each step draws by definition: those of the nodes that its release is the first to
// show, or one.
func (f *frame) vectors(steps int) []int {
	count := make([]int, steps)
	facts, _ := mechanisms.FactsOf(f.Mechanism.Name)
	switch {
	case facts.Tree:
		seen := map[int32]bool{}
		for t, active := range definition.NewForest(f.Mechanism.Scope.Span(), steps).Active {
			for _, node := range active {
				if !seen[node] {
					count[t]++
				}
				seen[node] = true
			}
		}
	case !facts.Draws:
		for t := range count {
			count[t] = 1
		}
	}
	return count
}

// seat returns a machine at step 0, for a run: that of the number, which may have played others before. Of two machines
// the first is opened first.
func (f *frame) seat(number int, r *run) (*seat, error) {
	if number == len(f.seats) {
		s := &seat{run: r}
		stream, err := f.stream(s)
		if err != nil {
			return nil, err
		}
		if s.machine, err = f.Open(stream); err != nil {
			return nil, err
		}
		f.guarantee = stream.Guarantee()
		s.start = s.machine.AppendState(nil)
		f.seats = append(f.seats, s)
	}
	s := f.seats[number]
	s.run = r
	if err := s.machine.Restore(s.start); err != nil {
		return nil, fmt.Errorf("neighbours: the state before any record is refused: %w", err)
	}
	return s, nil
}

// stream opens a stream whose sums are taps of a seat.
func (f *frame) stream(s *seat) (*mechanisms.Stream, error) {
	sums, err := f.Sums(s)
	if err != nil {
		return nil, err
	}
	for k := range sums {
		sums[k] = &tap{Sum: sums[k], seat: s, part: k}
	}
	stream, err := mechanisms.NewStream(checked(f.Mechanism, s), f.Calibration, f.Key, sums...)
	if err != nil {
		return nil, err
	}
	stream.DrawBy(func(d mechanisms.Draw, index int) int { return s.run.draw(d, index) })
	return stream, nil
}
