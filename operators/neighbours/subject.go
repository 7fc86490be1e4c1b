package neighbours

import (
	"errors"
	"fmt"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/audit/definition"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/schemas/decision"
)

// Subject is a configured machine. It must not change after the first comparison.
type Subject struct {
	Mechanism   mechanisms.Config
	Calibration mechanisms.Calibration
	Key         [32]byte // k₀, the key of both streams

	// Open returns the machine at step 0, which takes ownership of the stream.
	Open func(stream *mechanisms.Stream) (operators.Machine, error)

	// Sums makes the private sums over a sampler: the sums of the calibration or, in tests, sums with a planted fault.
	Sums func(sampler noise.Sampler) ([]mechanisms.Sum, error)

	// Own says that the k-th decision of the second topic in a step answers the step's k-th record. KeyText is the
	// position, among the decision's extras, of the key that it answers, or −1. Extras are the operator's members, by
	// which answers are encoded.
	Own     bool
	KeyText int
	Extras  []decision.Extra

	opened *frame
}

// New returns the subject of a machine all of whose decisions follow from releases.
func New(
	c mechanisms.Config, p mechanisms.Calibration, key [32]byte,
	open func(stream *mechanisms.Stream) (operators.Machine, error),
) *Subject {
	s := &Subject{Mechanism: c, Calibration: p, Key: key, Open: open, KeyText: -1}
	s.Sums = func(sampler noise.Sampler) ([]mechanisms.Sum, error) { return p.SumsOver(c, sampler) }
	return s
}

// Couple is a record and its counterpart in the neighbouring stream. Their slices must not change.
type Couple struct {
	Record, Neighbour operators.Record
	Exchanged         bool // the two records differ
}

// Source makes the records of both streams one after the other, because records may depend on published decisions.
type Source interface {
	// Next returns the records at a place of a step. Compare sets their identities.
	Next(step uint64, place int) Couple

	// Observe takes the decisions that were due after the record, or before the first record.
	Observe(decisions []operators.Decision)
}

// Report is the result of a pair of runs.
type Report struct {
	Fault   string    // the first difference with its step; empty if there is none
	Steps   []uint64  // steps in which contributions differ
	Largest [][]int64 // longest difference of contributions, by component, in lattice units
}

// frame is a Subject with the data that all its runs share.
type frame struct {
	*Subject
	samplers   []noise.Sampler // sampler of each component; nil if the component has no noise
	components []definition.Component
	claimed    []lattice.Int128 // squared distance that is claimed, by component, in squared lattice units
	kept       float64          // share of a release that remains in the next one
	prefix     bool             // releases contain contributions; false if they are draws
	law        mechanisms.Exponential
	players    []*player
	guarantee  protection.Guarantee // guarantee of each player's machine
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
		Subject: s, components: definition.Components(c, p), kept: definition.Kept(p),
		prefix: facts.Structure != mechanisms.Selection,
	}
	var errs []error
	for k, component := range c.Contribution.Components {
		sampler, err := samplerOf(facts.Law, p.Component(k).Scale, component.Size)
		errs = append(errs, err)
		f.samplers = append(f.samplers, sampler)
		f.claimed = append(f.claimed, claimed(c, component, f.components[k].Grid))
	}
	if facts.Structure == mechanisms.Selection {
		f.law = p.DrawLaw(c)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	s.opened = f
	return f, nil
}

// claimed returns the square of the distance by which the exchange of an event may move a component, as its quantiser
// declares it, in lattice units.
func claimed(c mechanisms.Config, component contribution.Component, g lattice.Grid) lattice.Int128 {
	replace, zeroOut := component.Distances(g)
	if c.Unit.AgainstNull() || replace.Less(zeroOut) {
		return zeroOut
	}
	return replace
}

// samplerOf returns the sampler for a law and a scale, independently of the mechanism's own choice.
func samplerOf(law mechanisms.Law, scale noise.Scale, n int) (noise.Sampler, error) {
	switch law {
	case mechanisms.Gaussian:
		return noise.NewGaussian(scale)
	case mechanisms.Gamma:
		return noise.NewGamma(scale, n)
	case mechanisms.Laplace:
		return noise.NewLaplace(scale)
	case mechanisms.Gumbel: // draws have no sampler
	}
	return nil, nil
}

// vectors returns the number of noise vectors that each step must draw: one, or for a tree one for each node that first
// appears in the step's release.
func (f *frame) vectors(steps int) []int {
	count := make([]int, steps)
	facts, _ := mechanisms.FactsOf(f.Mechanism.Name)
	switch {
	case facts.Structure == mechanisms.Tree:
		seen := map[int32]bool{}
		for t, active := range definition.NewForest(f.Mechanism.Scope.Span(), steps).Active {
			for _, node := range active {
				if !seen[node] {
					count[t]++
				}
				seen[node] = true
			}
		}
	case facts.Structure != mechanisms.Selection:
		return slices.Repeat([]int{1}, len(count))
	}
	return count
}

// player returns the machine with the given number, at step 0, for a run. It may have played earlier runs. It opens the
// machines up to this number in order, so that machine 0 is always the first.
func (f *frame) player(number int, r *run) (*player, error) {
	if number == len(f.players) {
		s := &player{run: r}
		stream, err := f.stream(s)
		if err != nil {
			return nil, err
		}
		if s.machine, err = f.Open(stream); err != nil {
			return nil, err
		}
		f.guarantee = stream.Guarantee()
		s.start = s.machine.AppendState(nil)
		f.players = append(f.players, s)
	}
	s := f.players[number]
	s.run = r
	if err := s.machine.Restore(s.start); err != nil {
		return nil, fmt.Errorf("neighbours: the state before any record is refused: %w", err)
	}
	return s, nil
}

// stream opens a stream whose sums are taps of a player.
func (f *frame) stream(s *player) (*mechanisms.Stream, error) {
	sums, err := f.Sums(s)
	if err != nil {
		return nil, err
	}
	for k := range sums {
		sums[k] = &tap{Sum: sums[k], player: s, component: k}
	}
	stream, err := mechanisms.NewStream(checked(f.Mechanism, s), f.Calibration, f.Key, sums...)
	if err != nil {
		return nil, err
	}
	stream.DrawBy(func(d mechanisms.Draw, index int) int { return s.run.draw(d, index) })
	return stream, nil
}
