package subject

import (
	"encoding/binary"

	"oriel/mechanisms"
	"oriel/mechanisms/audit"
	"oriel/mechanisms/noise"
	"oriel/operators"
)

// Player has a machine of the subject, for one goroutine, a second machine for restarts, and a reference model.
type Player struct {
	Subject      *Subject
	Reference    operators.ReferenceModel
	Contribution []float64 // expected contribution of the last record to the audited components, loss units
	Centre       []float64 // public centre of contribution; zeros if it has none
	All          []float64 // output of the reference model, for all components
	Streams      [2]*mechanisms.Stream
	Machines     [2]*operators.Counted
	now          int // index of the machine in use, 0 or 1
	start        []byte
	state        []byte
	release      []float64
	Decisions    []operators.Decision
}

// Open returns a player before its first run.
func (a *Subject) Open() (*Player, error) {
	reference, err := operators.ReferenceModelOf(a.Operator, a.Params)
	if err != nil {
		return nil, err
	}
	n := a.Mechanism.Dimension()
	p := &Player{
		Subject: a, Reference: reference, Contribution: make([]float64, n), Centre: make([]float64, n),
		All: make([]float64, a.WholeMechanism.Contribution.Entries()),
	}
	for i := range p.Machines {
		if p.Streams[i], err = a.Stream(a.WholeMechanism, a.WholeCalibration, a.Key()); err != nil {
			return nil, err
		}
		m, err := a.Machine(a.Operator, a.Params, p.Streams[i])
		if err != nil {
			return nil, err
		}
		p.Machines[i] = a.Stepped(m)
	}
	p.start = p.Machines[0].AppendState(nil)
	if a.Late > 0 {
		p.start, err = audit.At(a.WholeMechanism, a.WholeCalibration, p.start, a.Late)
	}
	return p, err
}

// Stepped returns a machine whose steps close after Places records.
func (a *Subject) Stepped(m operators.Machine) *operators.Counted {
	if a.WholeMechanism.Batch == 0 {
		return operators.ByPlaces(m, a.Places())
	}
	return operators.ByCount(m)
}

// Begin starts a run, which has its own noise.
func (p *Player) Begin(run uint64) error {
	p.now = 0
	if err := p.Machines[0].Restore(p.start); err != nil {
		return err
	}
	p.Streams[0].Rekey(p.Subject.Derived("machine", run))
	p.Decisions = p.Machines[0].Open(p.Decisions[:0])
	p.Reference.Begin()
	p.Reference.Observe(p.Decisions)
	return nil
}

// Add passes a record to the machine and to the reference model. Afterwards the field contribution has the record's
// expected contribution, and the field decisions has the decisions that the record caused. add reports whether the
// record should have added a contribution.
func (p *Player) Add(r operators.Record) bool {
	adds := p.Subject.Contribution(p.Contribution, p.All, p.Reference, r)
	p.Subject.centres(p.Centre, p.All, adds)
	p.Decisions = p.Machines[p.now].Add(p.Decisions[:0], r)
	p.Reference.Observe(p.Decisions)
	return adds
}

// Stream returns the private sum of the machine in use.
func (p *Player) Stream() *mechanisms.Stream { return p.Streams[p.now] }

// Sum returns the last release of the audited components, valid until the next call.
func (p *Player) Sum() []float64 {
	p.release = p.release[:0]
	for k := range p.Subject.Components {
		p.release = append(p.release, p.Stream().Sum(p.Subject.First+k)...)
	}
	return p.release
}

// Restart serialises the machine and restores its state into the other machine, which was in another state before.
func (p *Player) Restart() error {
	p.state = p.Machines[p.now].AppendState(p.state[:0])
	p.now = 1 - p.now
	return p.Machines[p.now].Restore(p.state)
}

// Identities numbers the records of a run with log identities. The run's number stands in place of a topic's id.
type Identities struct{ ID noise.Identity }

// IdentitiesOf returns the identities of a run before its first record.
func IdentitiesOf(run uint64) Identities {
	var p Identities
	binary.LittleEndian.PutUint64(p.ID.Topic[:], run)
	return p
}

// Next returns the identity of the next record.
func (p *Identities) Next() noise.Identity {
	p.ID.Offset++
	return p.ID
}
