package auditor

import (
	"oriel/mechanisms/audit/residual"
	"oriel/operators"
)

// step is what one step of a crowded run looks like from outside, valid during a call.
type step struct {
	release  []float64
	decision []float64
	leaves   []float64 // what its leaves should add up to, loss units
	along    int       // the coordinate that they are along, or residual.NoCoordinate
}

// crowded plays runs in which there are events at every step.
type crowded struct {
	*player
	crowd    *crowd
	steps    uint64
	decision []float64
	leaf     []float64
	leaves   []float64
}

func (a *Subject) openCrowded(steps uint64) (*crowded, error) {
	p, err := a.open()
	if err != nil {
		return nil, err
	}
	n := a.mechanism.Dimension
	return &crowded{
		player: p, crowd: a.newCrowd(), steps: steps,
		decision: make([]float64, n), leaf: make([]float64, n), leaves: make([]float64, n),
	}, nil
}

// restarts is how many times on average a run is broken off, when it is.
const restarts = 8

// play plays the run of a number, whose events are those of its purpose. With broken, the machine is written down and
// read back some times, anywhere.
func (c *crowded) play(purpose string, number uint64, broken bool, observe func(step)) error {
	if err := c.begin(); err != nil {
		return err
	}
	c.crowd.begin(purpose, number)
	a, at := c.subject, placesOf(number)
	a.first(c.decision)
	batch := a.mechanism.Batch
	breaks := a.random("restarts", number)
	rate := restarts / float64(c.steps*batch)
	for range c.steps {
		clear(c.leaves)
		along := residual.NoCoordinate
		first, second := c.crowd.rng.Uint64N(batch), c.crowd.rng.Uint64N(batch)
		var decision []float64
		for k := range batch {
			r := operators.Record{Null: true}
			if k == first || k == second {
				var toward int
				r, toward = c.crowd.next()
				a.leaf(c.leaf, c.decision, r)
				for i, v := range c.leaf {
					c.leaves[i] += v
				}
				if along = toward; first != second {
					along = residual.NoCoordinate
				}
			}
			r.Identity = at.next()
			decision = c.add(r)
			if broken && breaks.Float64() < rate {
				if err := c.restart(); err != nil {
					return err
				}
			}
		}
		copy(c.decision, decision)
		observe(step{release: c.sum(), decision: c.decision, leaves: c.leaves, along: along})
	}
	return nil
}
