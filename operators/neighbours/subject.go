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
	Open func(stream *mechanisms.Stream) (Machine, error)

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

// Machine is a machine that closes its own steps, as operators.Counted does: Add also appends the decisions that are
// due after the record.
type Machine interface {
	Open(dst []operators.Decision) []operators.Decision
	Add(dst []operators.Decision, r operators.Record) []operators.Decision
	Steps() uint64
	Due(step uint64) (first uint64, count int)
	AppendState(dst []byte) []byte
	AppendPublic(dst []byte) []byte // the part of a state that neighbours share, or nil
	StateLen() int
	Restore(state []byte) error
}

// New returns the subject of a machine all of whose decisions follow from releases. Its steps close by count.
func New(
	c mechanisms.Config, p mechanisms.Calibration, key [32]byte,
	open func(stream *mechanisms.Stream) (operators.Machine, error),
) *Subject {
	s := &Subject{Mechanism: c, Calibration: p, Key: key, KeyText: -1}
	s.Open = func(stream *mechanisms.Stream) (Machine, error) {
		m, err := open(stream)
		if err != nil {
			return nil, err
		}
		return operators.ByCount(m), nil
	}
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
	Draws   uint64    // number of draws that the guarantee accounts for, or of all draws (CompareDecisions)
	Share   float64   // largest share of the account that the draws use
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
		prefix: facts.ReleasesSums(),
	}
	var errs []error
	for k, component := range c.Contribution.Components {
		sampler, err := f.components[k].Sampler(c.Name)
		errs = append(errs, err)
		f.samplers = append(f.samplers, sampler)
		f.claimed = append(f.claimed, claimed(c, component, f.components[k].Grid))
	}
	if !facts.ReleasesSums() {
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

// vectors returns the number of noise vectors that each step must draw: one, or for a tree one for each node that first
// appears in the step's release.
func (f *frame) vectors(steps int) []int {
	if !f.prefix {
		return make([]int, steps)
	}
	tree := definition.NoiseOf(f.Mechanism, f.Calibration, steps).Forest
	if tree == nil {
		return slices.Repeat([]int{1}, steps)
	}
	count, seen := make([]int, steps), map[int32]bool{}
	for t, active := range tree.Active {
		for _, node := range active {
			if !seen[node] {
				count[t]++
			}
			seen[node] = true
		}
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

// CompareDeployed plays the records of the first stream on a machine over a stream that was opened as the service opens
// it, with the same key. Its releases and decisions must have the bytes of the recording. Then its noise has the law
// and the scale of the calibration, and contributions enter a release only as recorded.
func (s *Subject) CompareDeployed(source Source, steps uint64, stream *mechanisms.Stream) (fault string, err error) {
	f, err := s.frame()
	if err != nil {
		return "", err
	}
	recorded, fault, err := f.record(source, steps)
	if err != nil || fault != "" {
		return fault, err
	}
	m, err := s.Open(stream)
	if err != nil {
		return "", err
	}
	r, step := f.run(recorded), m.Steps()
	if fault := r.sameDecisions(0, recorded.shown[0].decisions, m.Open(nil)); fault != "" {
		return "as deployed: " + fault, nil
	}
	for i, c := range recorded.couples {
		decisions := m.Add(nil, c.Record)
		if m.Steps() > step {
			step = m.Steps()
			if k := f.otherRelease(recorded, step, stream); k >= 0 {
				return fmt.Sprintf("as deployed: step %d: %sanother release than contributions and noise of the calibration give", step, r.component(k)), nil
			}
		}
		if fault := r.sameDecisions(i+1, recorded.shown[i+1].decisions, decisions); fault != "" {
			return fmt.Sprintf("as deployed: step %d: %s", step, fault), nil
		}
	}
	return "", nil
}

// otherRelease returns the first component whose release differs from the recorded one, or −1.
func (f *frame) otherRelease(recorded *recording, step uint64, stream *mechanisms.Stream) int {
	for k, component := range f.Mechanism.Contribution.Components {
		x, some := recorded.at(step, k)
		if !some {
			return k
		}
		want := slices.Clone(x.release)
		for i, root := range contribution.Roots(component.Scales) {
			want[i] = float64(want[i] * root)
		}
		if !slices.EqualFunc(want, stream.Sum(k), sameBits) {
			return k
		}
	}
	return -1
}
