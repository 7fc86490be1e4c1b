package auditor

import (
	"math"
	"math/rand/v2"

	"oriel/operators"
)

// crowd makes events of all kinds, whose leaves an auditor knows: far beyond the clip in a random direction or along
// one number of the leaf, about the clip, far below it, of weight 0, and none at all.
type crowd struct {
	subject *Subject
	twin    operators.Twin // of the player that they are for
	rng     *rand.Rand
	number  int // of a record's
	dense   []float64
}

func (a *Subject) newCrowd(twin operators.Twin) *crowd {
	return &crowd{subject: a, twin: twin, dense: a.dense(a.random("direction", 1))}
}

// begin draws another run's events.
func (c *crowd) begin(purpose string, run uint64) {
	c.rng = c.subject.random(purpose, run)
	c.number = c.rng.IntN(c.subject.numbers())
}

// next returns the record that comes next.
func (c *crowd) next() operators.Record {
	u, factor := c.dense, 1.0
	switch kind := c.rng.IntN(8); kind {
	case 0:
		first, _ := c.twin.Canary(u, 0)
		return operators.Record{Null: true, Key: first.Key} // a key is public, whatever the record says
	case 1, 2, 3:
		c.number = (c.number + 1) % c.subject.numbers()
		if u = c.subject.along(c.number); kind == 3 {
			factor = 1 << 20
		}
	case 5, 6:
		u = c.subject.dense(c.rng)
		// from below the lattice's digits to twice the clip and more
		factor = math.Exp2(20*c.rng.Float64()-20) / operators.Beyond * 2
	case 7:
		factor = 0
	}
	first, second := c.twin.Canary(u, factor)
	if c.rng.IntN(2) == 0 {
		return first
	}
	return second
}
