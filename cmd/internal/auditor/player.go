package auditor

import (
	"encoding/binary"
	"slices"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/lattice"
	"oriel/mechanisms/noise"
	"oriel/operators"
)

// player has a machine of the subject, for one goroutine, a second machine for restarts, and a reference model.
type player struct {
	subject      *Subject
	reference    operators.ReferenceModel
	contribution []float64 // expected contribution of the last record to the audited components, loss units
	centre       []float64 // public centre of contribution; zeros if it has none
	all          []float64 // output of the reference model, for all components
	streams      [2]*mechanisms.Stream
	both         [2]operators.Machine
	now          int // index of the machine in use, 0 or 1
	start        []byte
	state        []byte
	release      []float64
	decisions    []operators.Decision
}

func (a *Subject) open() (*player, error) {
	reference, err := operators.ReferenceModelOf(a.operator, a.public)
	if err != nil {
		return nil, err
	}
	n := a.mechanism.Dimension()
	p := &player{
		subject: a, reference: reference, contribution: make([]float64, n), centre: make([]float64, n),
		all: make([]float64, a.wholeMechanism.Contribution.Entries()),
	}
	for i := range p.both {
		if p.streams[i], err = a.stream(a.wholeMechanism, a.wholeCalibration, a.key()); err != nil {
			return nil, err
		}
		if p.both[i], err = a.machine(a.operator, a.public, p.streams[i]); err != nil {
			return nil, err
		}
	}
	p.start = p.both[0].AppendState(nil)
	if a.late > 0 {
		p.start, err = audit.At(a.wholeMechanism, a.wholeCalibration, p.start, a.late)
	}
	return p, err
}

// begin starts a run.
func (p *player) begin() error {
	p.now = 0
	if err := p.both[0].Restore(p.start); err != nil {
		return err
	}
	p.decisions = p.both[0].Open(p.decisions[:0])
	p.reference.Begin()
	p.reference.Observe(p.decisions)
	return nil
}

// add passes a record to the machine and to the reference model. Afterwards the field contribution has the record's
// expected contribution, and the field decisions has the decisions that the record caused. add reports whether the
// record should have added a contribution.
func (p *player) add(r operators.Record) bool {
	adds := p.subject.contribution(p.contribution, p.all, p.reference, r)
	p.subject.centres(p.centre, p.all, adds)
	p.decisions = p.both[p.now].Add(p.decisions[:0], r)
	p.reference.Observe(p.decisions)
	return adds
}

// sum returns the last release of the audited components, valid until the next call.
func (p *player) sum() []float64 {
	p.release = p.release[:0]
	for k := range p.subject.components {
		p.release = append(p.release, p.streams[p.now].Sum(p.subject.first+k)...)
	}
	return p.release
}

// copyIncrements returns a copy of the last step's increments, by component. An entry is nil if the component's sum
// reports no increments.
func (p *player) copyIncrements() [][]lattice.Int128 {
	stream := p.streams[p.now]
	var all [][]lattice.Int128
	for i := range stream.Components() {
		all = append(all, slices.Clone(stream.Increments(i)))
	}
	return all
}

// appendSums appends the last releases of all components.
func (p *player) appendSums(dst []byte) []byte {
	for i := range p.subject.wholeMechanism.Contribution.Components {
		dst = appendNumbers(dst, p.streams[p.now].Sum(i))
	}
	return dst
}

// restart serialises the machine and restores its state into the other machine, which was in another state before.
func (p *player) restart() error {
	p.state = p.both[p.now].AppendState(p.state[:0])
	p.now = 1 - p.now
	return p.both[p.now].Restore(p.state)
}

// identities numbers the records of a run with log identities. The run's number stands in place of a topic's id, so
// that each run has its own noise.
type identities struct{ id noise.Identity }

func placesOf(run uint64) identities {
	var p identities
	binary.LittleEndian.PutUint64(p.id.Topic[:], run)
	return p
}

func (p *identities) next() noise.Identity {
	p.id.Offset++
	return p.id
}
