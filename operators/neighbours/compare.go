package neighbours

import (
	"bytes"
	"fmt"
	"slices"

	"oriel/mechanisms/noise"
	"oriel/operators"
)

// These are the limits of a pair of runs.
const (
	publicBytes = 1 << 19 // bytes of public states that a recording keeps
	maxRecent   = 3       // number of records from an exchange on whose public states are compared
	restarts    = 3       // restarts in a replay, at records that Compare chooses
)

// Compare plays a pair of streams for the given number of steps. at lists the steps in which contributions may differ;
// nil means the steps that the unit allows. A fault is a defect of the machine. An error is the caller's, or means that
// a stream cannot be opened.
func (s *Subject) Compare(source Source, steps uint64, at []uint64) (Report, error) {
	f, err := s.frame()
	if err != nil {
		return Report{}, err
	}
	record, fault, err := f.record(source, steps)
	if err != nil || fault != "" {
		return Report{Fault: fault}, err
	}
	r := f.run(record)
	if err := f.replay(r); err != nil {
		return Report{}, err
	}
	r.finish(at)
	return Report{
		Fault: r.fault, Steps: r.steps, Largest: r.largest, Draws: r.account.Count, Share: r.account.Share,
	}, nil
}

// CompareDecisions plays a pair of streams that may differ in all records. It compares only what must be equal for any
// events over the same releases and draws: decisions, the public part of the state, and the order of draws.
func (s *Subject) CompareDecisions(source Source, steps uint64) (Report, error) {
	f, err := s.frame()
	if err != nil {
		return Report{}, err
	}
	record, fault, err := f.record(source, steps)
	if err != nil || fault != "" {
		return Report{Fault: fault}, err
	}
	r := f.run(record)
	r.unlike, r.account.Unlike = true, true
	err = f.replay(r)
	return Report{Fault: r.fault, Draws: uint64(len(record.draws))}, err
}

// identityOf returns the log position of a record, which is the same in both streams.
func identityOf(i int) noise.Identity {
	return noise.Identity{Topic: [16]byte{5}, Partition: 1, Offset: int64(i), LeaderEpoch: 2}
}

// record plays the first stream and records the run.
func (f *frame) record(source Source, steps uint64) (out *recording, fault string, err error) {
	out = &recording{}
	r := f.run(out)
	player, err := f.player(0, r)
	if err != nil {
		return nil, "", err
	}
	m := player.machine
	defer func() {
		if stopped := recover(); stopped != nil {
			fault = fmt.Sprintf("step %d: the machine stops", m.Steps()+1)
		}
	}()
	// every and recent count records.
	every, recent := max(1, int(steps*max(1, f.Mechanism.Batch))*m.StateLen()/publicBytes), 0
	show := func(decisions []operators.Decision) {
		x := shown{
			decisions: operators.AppendCopies(nil, decisions), steps: m.Steps(), draws: len(out.draws), length: m.StateLen(),
		}
		if recent--; recent > 0 || len(out.shown)%every == 0 {
			x.public = m.AppendPublic([]byte{})
		}
		out.shown = append(out.shown, x)
		source.Observe(decisions)
	}
	show(m.Open(nil))
	for place := 0; m.Steps() < steps; {
		before := m.Steps()
		c := source.Next(before+1, place)
		c.Record.Identity = identityOf(len(out.couples))
		c.Neighbour.Identity = c.Record.Identity
		out.couples = append(out.couples, c)
		if c.Exchanged {
			recent = maxRecent
		}
		decisions := m.Add(nil, c.Record)
		if place++; m.Steps() > before {
			place = 0
			if fault := due(m, decisions); fault != "" {
				return out, fault, nil
			}
		}
		show(decisions)
	}
	if r.fault == "" {
		r.freshNoise()
	}
	return out, r.fault, nil
}

// freshNoise reports noise vectors whose number or size differs from the definition. It also reports a vector that is
// drawn twice, because two sums or two steps would then share noise.
func (r *run) freshNoise() {
	seen, defined := map[noise.Seed]bool{}, r.frame.vectors(len(r.recorded.steps))
	for t, parts := range r.recorded.steps {
		for k, x := range parts {
			if len(x.fills) != defined[t] {
				r.refuse("step %d: %s%d noise vectors are drawn, by definition %d", t+1, r.component(k), len(x.fills), defined[t])
			}
			for _, fill := range x.fills {
				if len(fill.values) != len(x.contributions) {
					r.refuse("step %d: %sa noise vector has another length than contributions", t+1, r.component(k))
				}
				if seen[fill.seed] {
					r.refuse("step %d: noise that was drawn before is drawn again", t+1)
				}
				seen[fill.seed] = true
			}
		}
	}
}

// due describes the difference between the decisions of a step and the decisions that Due announces, or returns "".
func due(m Machine, decisions []operators.Decision) string {
	step := m.Steps()
	first, count := m.Due(step)
	if len(decisions) != count {
		return fmt.Sprintf("step %d: %d decisions, %d are due", step, len(decisions), count)
	}
	for i, d := range decisions {
		if d.Index != first+uint64(i) || d.Step != step {
			return fmt.Sprintf("step %d: a decision has another index or step than is due", step)
		}
	}
	return ""
}

// replay plays the neighbouring stream, and saves and restores the machine at some records.
func (f *frame) replay(r *run) error {
	var players [2]*player
	for i := range players {
		var err error
		if players[i], err = f.player(1-i, r); err != nil { // the recording's machine has played other runs
			return err
		}
	}
	m, other := players[0].machine, players[1].machine
	defer func() {
		if stopped := recover(); stopped != nil {
			r.refuse("step %d: the machine stops in the neighbouring stream", m.Steps()+1)
		}
	}()
	breaks := r.recorded.breaks()
	r.look(0, m, m.Open(nil))
	for i, c := range r.recorded.couples {
		if r.fault != "" {
			return nil
		}
		r.look(i+1, m, m.Add(nil, c.Neighbour))
		if slices.Contains(breaks, i) {
			state := m.AppendState(nil)
			// By the clock the state of an open step knows which partitions had events. Only its owner can read it.
			if f.Mechanism.Batch > 0 && len(state) != r.recorded.shown[i+1].length {
				r.refuse("step %d: the length of the state depends on records", m.Steps()+1)
				return nil
			}
			if err := other.Restore(state); err != nil {
				r.refuse("step %d: the machine refuses its own state", m.Steps()+1)
				return nil
			}
			m, other = other, m
		}
	}
	return nil
}

// breaks returns the records after which the replay saves and restores the machine: the first and the last exchanged
// record, and some others.
func (r *recording) breaks() (at []int) {
	for i, c := range r.couples {
		if c.Exchanged {
			at = append(at, i)
		}
	}
	if len(at) > 2 {
		at = []int{at[0], at[len(at)-1]}
	}
	for k := range restarts {
		at = append(at, (2*k+1)*len(r.couples)/(2*restarts))
	}
	return at
}

// look compares the observable effects of a record with the effects in the recording.
func (r *run) look(i int, m Machine, decisions []operators.Decision) {
	want := r.recorded.shown[i]
	where := fmt.Sprintf("step %d", want.steps)
	if m.Steps() != want.steps {
		r.refuse("%s: the neighbouring stream has closed %d", where, m.Steps())
		return
	}
	if r.draws != want.draws {
		r.refuse("%s: %d draws so far, %d in the neighbouring stream", where, want.draws, r.draws)
	}
	if fault := r.sameDecisions(i, want.decisions, decisions); fault != "" {
		r.refuse("%s: %s", where, fault)
	}
	if want.public != nil && !bytes.Equal(m.AppendPublic([]byte{}), want.public) {
		r.refuse("%s: the public part of the state depends on events beside releases", where)
	}
}

// finish checks the properties that need a complete run.
func (r *run) finish(at []uint64) {
	separation, several := r.frame.Mechanism.Unit.EventSeparation()
	for k, step := range r.steps {
		switch {
		case at != nil && !slices.Contains(at, step):
			r.refuse("step %d: contributions differ there, and no exchanged event may be added in it", step)
		case k > 0 && !several:
			r.refuse("step %d: contributions differ in step %d already, and one event was exchanged", step, r.steps[0])
		case k > 0 && step-r.steps[k-1] < separation:
			r.refuse("step %d: contributions differ %d steps after the last time, events of a user are %d apart", step,
				step-r.steps[k-1], separation)
		}
	}
}
