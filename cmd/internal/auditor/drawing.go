package auditor

import (
	"errors"
	"fmt"

	"oriel/mechanisms"
	"oriel/operators/neighbours"
)

// drawing reports whether exponential-mechanism draws are the only releases. Such a subject has no noise to rebuild and
// no sum to attack; the audit computes exactly how an exchange changes the distribution of every draw.
func (a *Subject) drawing() bool {
	facts, _ := mechanisms.FactsOf(a.mechanism.Name)
	return facts.Structure == mechanisms.Selection
}

// drawingSteps returns the number of steps of a run: several intervals between draws.
func (a *Subject) drawingSteps() uint64 {
	m := a.mechanism
	return max(1, min(m.Scope.End(), max(shortestBackground, 4*m.Draws.Every)+a.lag, longestBackground/m.Batch))
}

// drawn runs the audit of a subject that releases only draws.
func (r *Result) drawn() error {
	a := r.subject
	r.steps = a.drawingSteps()
	r.notAttacked = append(r.notAttacked, "attacks and noise of sums: none is released; the law of every draw is known, and compared, instead")
	if err := r.compareDeployed(); err != nil {
		return err
	}
	var errs []error
	if first := a.earliest(); first > r.steps {
		r.notAttacked = append(r.notAttacked, fmt.Sprintf("exchange: an event adds nothing before step %d, and a run has %d", first, r.steps))
	} else {
		errs = append(errs, r.add(a.exchange(r.steps)))
	}
	if a.hasQuantiser() {
		errs = append(errs, r.add(a.distances()))
	}
	return errors.Join(errs...)
}

// exchanges is the number of pairs of runs.
const exchanges = 24

// exchange plays pairs of runs with the same draws, one run with a canary and one without. The number and the
// distribution of the draws must be the calibration's, and the canary must not move a score by more than its
// sensitivity.
func (a *Subject) exchange(steps uint64) (Check, error) {
	check := Check{
		Name: "exchange", Looked: "runs that differ in one event, over the same draws", Count: exchanges, Holds: true,
	}
	p, err := a.open()
	if err != nil {
		return check, err
	}
	d, due := a.mechanism.Draws, uint64(0) // number of draws: exact if draws have an interval, else an upper bound
	if d.Every > 0 {
		due = d.K * (steps / d.Every)
	} else {
		due = d.K * min(d.MaxDraws, steps)
	}
	share := 0.0
	for run := range uint64(exchanges) {
		rng := a.random("exchange", run)
		first := a.earliest()
		u, at := a.dense(rng), first+rng.Uint64N(steps+1-first)
		if run%2 == 0 {
			at = first // all draws come after this step
		}
		var with []recordedDraw
		err := p.pairing(run, steps, at, u, true, func(d mechanisms.Draw, index int) int {
			with = append(with, clone(d, index))
			return index
		})
		if err != nil {
			return check, err
		}
		again, fault := &scriptedDraws{draws: with}, ""
		accounted := neighbours.Account{Law: a.calibration.DrawLaw(a.mechanism), Disjoint: d.Disjoint}
		err = p.pairing(run, steps, at, u, false, func(d mechanisms.Draw, index int) int {
			if again.next < len(with) && fault == "" {
				fault = accounted.Add(with[again.next].Draw, d)
			}
			return again.choose(d, index)
		})
		if err != nil {
			return check, err
		}
		if made := accounted.Count; fault == "" && (made > due || d.Every > 0 && made != due) {
			fault = fmt.Sprintf("%d draws in %d steps, the account has %d", made, steps, due)
		}
		if fault == "" {
			fault = again.end()
		}
		if fault != "" {
			check.Holds, check.Found = false, fmt.Sprintf("run %d: %s", run, fault)
			return check, nil
		}
		share = max(share, accounted.Share)
	}
	check.Found = fmt.Sprintf("draws are the account's, and their laws move by up to %.3f of it", share)
	return check, nil
}

// pairing plays a run of null events and one other event: the canary or its replacement.
func (p *player) pairing(run, steps, at uint64, u []float64, canary bool,
	choose func(d mechanisms.Draw, index int) int,
) error {
	p.observe(choose)
	defer p.observe(nil)
	if err := p.begin(); err != nil {
		return err
	}
	places := placesOf(run)
	s := &canarySender{player: p, direction: u, canary: canary, due: func(t uint64) bool { return t == at }}
	for step := uint64(1); step <= steps; step++ {
		for place := range p.subject.mechanism.Batch {
			r, _ := s.at(step, place)
			r.Identity = places.next()
			p.add(r)
		}
	}
	return nil
}
