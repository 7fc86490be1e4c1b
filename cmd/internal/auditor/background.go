package auditor

import "oriel/operators"

// step is the observable result of one step of a run with background traffic. It is valid only during a call.
type step struct {
	release       []float64
	decisions     []operators.Decision
	contributions []float64 // expected sum of the step's contributions, loss units
	same          []bool    // by record: the event does not depend on the run's purpose
}

// background plays runs with background traffic: events at every step.
type background struct {
	*player
	traffic       *traffic
	steps         uint64
	contributions []float64
	same          []bool
}

func (a *Subject) openBackground(steps uint64) (*background, error) {
	p, err := a.open()
	if err != nil {
		return nil, err
	}
	return &background{
		player: p, traffic: a.newTraffic(p.reference), steps: steps, contributions: make([]float64, len(p.contribution)),
	}, nil
}

// restarts is the average number of restarts in a run that is interrupted.
const restarts = 8

// play plays the run with this number; purpose seeds its events. If broken is true, play serialises and restores the
// machine several times, at random places.
func (c *background) play(purpose string, number uint64, broken bool, observe func(step)) error {
	if err := c.begin(); err != nil {
		return err
	}
	c.traffic.begin(purpose, number)
	a, at := c.subject, placesOf(number)
	batch := a.mechanism.Batch
	breaks := a.random("restarts", number)
	keyed := a.random("places of events", number) // independent of the purpose, so that public keys stay the same
	rate := restarts / float64(c.steps*batch)
	for range c.steps {
		c.traffic.step()
		clear(c.contributions)
		c.same = c.same[:0]
		first, second := keyed.Uint64N(batch), keyed.Uint64N(batch)
		for k := range batch {
			r, same := operators.Record{Null: true}, true
			if k == first || k == second {
				r = c.traffic.next()
				same = c.traffic.same
			}
			c.same = append(c.same, same)
			r.Identity = at.next()
			if c.add(r) {
				for i, v := range c.contribution {
					c.contributions[i] += v
				}
			}
			if broken && breaks.Float64() < rate {
				if err := c.restart(); err != nil {
					return err
				}
			}
		}
		observe(step{release: c.sum(), decisions: c.decisions, contributions: c.contributions, same: c.same})
	}
	return nil
}
