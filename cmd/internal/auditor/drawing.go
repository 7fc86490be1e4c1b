package auditor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"oriel/mechanisms"
)

// drawing reports whether nothing is released but draws: then there is no noise to rebuild and no sum to attack, and
// what an exchange does to the law of every draw is exact.
func (a *Subject) drawing() bool {
	facts, _ := mechanisms.FactsOf(a.mechanism.Name)
	return facts.Draws
}

// drawingSteps is how long runs are: some times that draws are due.
func (a *Subject) drawingSteps() uint64 {
	m := a.mechanism
	return max(1, min(m.Scope.End(), max(shortestBackground, 4*m.Draws.Every)+a.lag, longestBackground/m.Batch))
}

// drawn is Audit of such a subject.
func (r *Result) drawn(context.Context) error {
	a := r.subject
	r.steps = a.drawingSteps()
	r.notAttacked = append(r.notAttacked, "attacks and noise of sums: none is released; the law of every draw is known, and compared, instead")
	if err := r.compareDeployed(); err != nil {
		return err
	}
	var errExchange, errDistances error
	if first := a.earliest(); first > r.steps {
		r.notAttacked = append(r.notAttacked, fmt.Sprintf("exchange: an event adds nothing before step %d, and a run has %d", first, r.steps))
	} else {
		var exchange Check
		exchange, errExchange = a.exchange(r.steps)
		r.checks = append(r.checks, exchange)
	}
	if a.hasQuantiser() {
		var distances Check
		distances, errDistances = a.distances()
		r.checks = append(r.checks, distances)
	}
	return errors.Join(errExchange, errDistances)
}

// exchanges is how many pairs of runs are played.
const exchanges = 24

// exchange plays runs with a canary, and without over the same draws: their number and law are those of the plan, and
// no score moves by more than the law's sensitivity.
func (a *Subject) exchange(steps uint64) (Check, error) {
	check := Check{
		Name: "exchange", Looked: "runs that differ in one event, over the same draws", Count: exchanges, Holds: true,
	}
	p, err := a.open()
	if err != nil {
		return check, err
	}
	d, due := a.mechanism.Draws, uint64(0) // exactly, or at most
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
			at = first // which all draws see
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
		accounted := drawAccount{law: a.plan.DrawLaw(a.mechanism), alone: d.Disjoint}
		err = p.pairing(run, steps, at, u, false, func(d mechanisms.Draw, index int) int {
			if again.next < len(with) && fault == "" {
				fault = accounted.add(with[again.next], d)
			}
			return again.choose(d, index)
		})
		if err != nil {
			return check, err
		}
		if made := accounted.count; fault == "" && (made > due || d.Every > 0 && made != due) {
			fault = fmt.Sprintf("%d draws in %d steps, the account has %d", made, steps, due)
		}
		if fault == "" {
			fault = again.end()
		}
		if fault != "" {
			check.Holds, check.Found = false, fmt.Sprintf("run %d: %s", run, fault)
			return check, nil
		}
		share = max(share, accounted.share)
	}
	check.Found = fmt.Sprintf("draws are those of the account, and their laws move by up to %.3f of it", share)
	return check, nil
}

// drawAccount holds draws of two neighbours to the loss that the account has of them. Draws by another law are of
// scores that say nothing of events.
type drawAccount struct {
	law   mechanisms.Exponential
	alone bool // of draws behind one step, all together, an exchange moves as much as of one

	count    uint64
	step     uint64
	affected float64 // of the draws behind step
	share    float64 // the largest there was
}

// add takes a draw of both, and says what is wrong if its scores move too far.
func (a *drawAccount) add(d recordedDraw, other mechanisms.Draw) (fault string) {
	if len(d.Scores) != len(other.Scores) {
		return "" // as the script says
	}
	differences := make([]int64, len(d.Scores))
	for i, q := range d.Scores {
		differences[i] = q - other.Scores[i]
	}
	least, most := slices.Min(differences), slices.Max(differences)
	if d.Law != a.law {
		if least != most {
			return fmt.Sprintf("a draw by %+v, the account has %+v", d.Law, a.law)
		}
		return ""
	}
	a.count++
	if !a.alone || d.Step != a.step {
		a.step, a.affected = d.Step, 0
	}
	sensitivity := float64(d.Law.Sensitivity.Num) / float64(d.Law.Sensitivity.Den)
	a.affected += float64(most-least) / (2 * sensitivity)
	a.share = max(a.share, a.affected)
	if a.affected > 1 {
		return fmt.Sprintf("scores of a draw move by %d to %d, the account has %g", least, most, sensitivity)
	}
	return ""
}

// pairing plays a run of null events but for one, the canary or what is in its place.
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
