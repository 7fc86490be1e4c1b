package auditor

import "oriel/operators"

// canarySender sends the records of each canary in a run in order, one record at the first place of each step. It
// starts so early that each contribution is added in a step for which due is true. After a canary with a key, two more
// records with the same key follow, equal whether the canary or its replacement was sent. They stand for records of
// another sender that reuses the key, and they must not add the event again.
type canarySender struct {
	player    *player
	direction []float64
	canary    bool // send the canary, not its replacement
	due       func(step uint64) bool
	records   []operators.Record // records of the last canary
}

// at returns the record at a place in a step: a canary's record or a null record. echo reports that the record repeats
// a canary's key.
func (s *canarySender) at(step, place uint64) (r operators.Record, echo bool) {
	a := s.player.subject
	if place > 1 {
		return operators.Record{Null: true}, false
	}
	for i := range a.carriers {
		if !s.due(step + a.lag + uint64(a.carriers-1-i)) {
			continue
		}
		if place == 0 {
			if i == 0 {
				s.records, _ = s.player.reference.Records(a.pair(s.player.reference, s.direction, s.canary))
			}
			return s.records[i], false
		}
		if i == a.carriers-1 {
			return s.echo()
		}
	}
	if last := step - 1 + a.lag; place == 0 && step > 1 && s.due(last) {
		return s.echo()
	}
	return operators.Record{Null: true}, false
}

// echo returns an event under the key of the last canary, the same in all runs.
func (s *canarySender) echo() (r operators.Record, echo bool) {
	if len(s.records) == 0 || len(s.records[0].Key) == 0 {
		return operators.Record{Null: true}, false
	}
	first, _ := s.player.reference.Canary(s.direction, 1)
	all, _ := s.player.reference.Records(first)
	r = all[len(all)-1]
	r.Key = s.records[0].Key
	return r, true
}

// contributionAt plays a run up to the step that adds its canary's contribution. It returns the contribution relative
// to its centre, and reports whether the canary adds a contribution.
func (p *player) contributionAt(
	step uint64, along []float64, run uint64, canary bool,
) (sum []float64, adds bool, err error) {
	if err := p.begin(); err != nil {
		return nil, false, err
	}
	at := placesOf(run)
	s := &canarySender{player: p, direction: along, canary: canary, due: func(t uint64) bool { return t == step }}
	for t := uint64(1); ; t++ {
		for place := range p.subject.mechanism.Batch {
			r, _ := s.at(t, place)
			r.Identity = at.next()
			if adds = p.add(r); t == step {
				return differences(p.contribution, p.centre), adds, nil
			}
		}
	}
}

// contributionsAt returns what contributionAt returns for a canary and for its replacement. If events do not wait, both
// runs are equal before the canary, so contributionsAt plays that part once, with a second reference model beside it.
func (p *player) contributionsAt(step uint64, along []float64, run uint64) (with, without []float64, err error) {
	a := p.subject
	if a.carriers > 1 || a.lag > 0 {
		if with, _, err = p.contributionAt(step, along, run, true); err != nil {
			return nil, nil, err
		}
		without, _, err = p.contributionAt(step, along, run, false)
		return with, without, err
	}
	other, err := operators.ReferenceModelOf(a.operator, a.public)
	if err != nil {
		return nil, nil, err
	}
	if err := p.begin(); err != nil {
		return nil, nil, err
	}
	other.Begin()
	other.Observe(p.decisions)
	at := placesOf(run)
	for range (step - 1) * a.mechanism.Batch {
		r := operators.Record{Null: true, Identity: at.next()}
		other.Contribution(p.all, r)
		p.add(r)
		other.Observe(p.decisions)
	}
	record := at.next()
	contribution := func(reference operators.ReferenceModel, canary bool) []float64 {
		records, _ := reference.Records(a.pair(reference, along, canary))
		records[0].Identity = record
		adds := a.contribution(p.contribution, p.all, reference, records[0])
		a.centres(p.centre, p.all, adds)
		return differences(p.contribution, p.centre)
	}
	return contribution(p.reference, true), contribution(other, false), nil
}
