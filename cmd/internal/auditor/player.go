package auditor

import (
	"encoding/binary"

	"oriel/mechanisms"
	"oriel/mechanisms/noise"
	"oriel/operators"
)

// player is one machine of the subject, for one goroutine, and a second one that it can move to.
type player struct {
	subject *Subject
	streams [2]*mechanisms.Stream
	both    [2]operators.Machine
	now     int // which of both runs
	start   []byte
	state   []byte
	made    []operators.Decision
}

func (a *Subject) open() (*player, error) {
	p := &player{subject: a}
	for i := range p.both {
		var err error
		if p.streams[i], err = a.stream(a.mechanism, a.plan, a.key()); err != nil {
			return nil, err
		}
		if p.both[i], err = a.machine(p.streams[i]); err != nil {
			return nil, err
		}
	}
	p.start = p.both[0].AppendState(nil)
	return p, nil
}

// begin starts a run.
func (p *player) begin() error {
	p.now = 0
	if err := p.both[0].Restore(p.start); err != nil {
		return err
	}
	p.made = p.both[0].Open(p.made[:0])
	return nil
}

// add takes one record and returns the decision it brings about, or nil.
func (p *player) add(r operators.Record) []float64 {
	if p.made = p.both[p.now].Add(p.made[:0], r); len(p.made) == 0 {
		return nil
	}
	return p.made[0].Point
}

// sum is the last release.
func (p *player) sum() []float64 { return p.streams[p.now].Sum() }

// restart writes the machine down and reads it back as another one, which has been elsewhere.
func (p *player) restart() error {
	p.state = p.both[p.now].AppendState(p.state[:0])
	p.now = 1 - p.now
	return p.both[p.now].Restore(p.state)
}

// places counts the log places of a run. The run's number stands where a topic's id does, so that each run has noise of
// its own.
type places struct{ id noise.Identity }

func placesOf(run uint64) places {
	var p places
	binary.LittleEndian.PutUint64(p.id.Topic[:], run)
	return p
}

func (p *places) next() noise.Identity {
	p.id.Offset++
	return p.id
}
