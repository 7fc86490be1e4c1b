package auditor

import (
	"math"
	"math/rand/v2"

	"oriel/mechanisms/audit/residual"
	"oriel/operators"
	"oriel/schemas"
)

// crowd makes events of all kinds, whose leaves an auditor knows: far beyond the clip in a random direction or along
// one coordinate, about the clip, far below it, of weight 0, and none at all.
type crowd struct {
	subject    *Subject
	rng        *rand.Rand
	coordinate int
	dense      []float64
	canaries   map[int][2]schemas.Event // by coordinate
}

// remembered bounds what is kept of events along coordinates, numbers.
const remembered = 1 << 20

func (a *Subject) newCrowd() *crowd {
	c := &crowd{subject: a, canaries: map[int][2]schemas.Event{}}
	c.dense = a.dense(a.random("direction", 1))
	return c
}

// begin draws another run's events.
func (c *crowd) begin(purpose string, run uint64) {
	c.rng = c.subject.random(purpose, run)
	c.coordinate = c.rng.IntN(c.subject.mechanism.Dimension)
}

// next returns a record and the coordinate that its leaf is along, or residual.NoCoordinate.
func (c *crowd) next() (r operators.Record, along int) {
	along = residual.NoCoordinate
	var two [2]schemas.Event
	factor := 1.0
	switch kind := c.rng.IntN(8); kind {
	case 0:
		return operators.Record{Null: true}, along
	case 1, 2, 3:
		c.coordinate = (c.coordinate + 1) % c.subject.mechanism.Dimension
		if two, along = c.alongCoordinate(c.coordinate), c.coordinate; kind == 3 {
			factor = 1 << 20
		}
	case 4:
		two[0], two[1] = canaryEvents(c.subject.operator, c.dense)
	case 5, 6:
		two[0], two[1] = canaryEvents(c.subject.operator, c.subject.dense(c.rng))
		factor = math.Exp2(20*c.rng.Float64()-20) / beyond * 2 // from below the lattice's digits to twice the clip and more
	case 7:
		two[0], two[1] = canaryEvents(c.subject.operator, c.dense)
		factor = 0
	}
	event := two[c.rng.IntN(2)]
	event.Weight *= factor
	return operators.Record{Event: event}, along
}

func (c *crowd) alongCoordinate(i int) [2]schemas.Event {
	if two, ok := c.canaries[i]; ok {
		return two
	}
	var two [2]schemas.Event
	two[0], two[1] = canaryEvents(c.subject.operator, c.subject.along(i))
	if (len(c.canaries)+1)*c.subject.mechanism.Dimension <= remembered {
		c.canaries[i] = two
	}
	return two
}
