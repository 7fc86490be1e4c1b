package traffic

import (
	"oriel/cmd/internal/audit/subject"
	"oriel/operators"
)

// Step is the observable result of one step of a run with background traffic. It is valid only during a call.
type Step struct {
	Release       []float64
	Decisions     []operators.Decision
	Contributions []float64 // expected sum of the step's contributions, loss units
}

// Background plays runs with background traffic: events at every step.
type Background struct {
	*subject.Player
	Traffic       *Traffic
	Steps         uint64
	contributions []float64
}

// Open returns a player of runs of this many steps.
func Open(a *subject.Subject, steps uint64) (*Background, error) {
	p, err := a.Open()
	if err != nil {
		return nil, err
	}
	return &Background{
		Player: p, Traffic: New(a, p.Reference), Steps: steps, contributions: make([]float64, len(p.Contribution)),
	}, nil
}

// restarts is the average number of restarts in a run that is interrupted.
const restarts = 8

// Play plays the run with this number; purpose seeds its events. If broken is true, play serialises and restores the
// machine several times, at random places.
func (c *Background) Play(purpose string, number uint64, broken bool, observe func(Step)) error {
	if err := c.Begin(number); err != nil {
		return err
	}
	c.Traffic.Begin(purpose, number)
	a, at := c.Subject, subject.IdentitiesOf(number)
	batch := a.Places()
	breaks := a.Random("restarts", number)
	rate := restarts / float64(c.Steps*batch)
	for range c.Steps {
		c.Traffic.Step()
		clear(c.contributions)
		for place := range batch {
			r, _ := c.Traffic.At(place)
			r.Identity = at.Next()
			if c.Add(r) {
				for i, v := range c.Contribution {
					c.contributions[i] += v
				}
			}
			if broken && breaks.Float64() < rate {
				if err := c.Restart(); err != nil {
					return err
				}
			}
		}
		observe(Step{Release: c.Sum(), Decisions: c.Decisions, Contributions: c.contributions})
	}
	return nil
}
