package auditor

import (
	"math"
	"math/rand/v2"

	"oriel/operators"
)

// traffic makes background events of all kinds, whose contributions an auditor knows. Their gradients are far beyond
// the clip in a random direction or along one number of the contribution, near the clip, far below it, of weight 0, or
// null.
//
// If events have keys, some records repeat an earlier key: as feedback that is sent again, or as the reward for a
// waiting context. Keys and their times are public, so they are the same for all purposes of a run.
type traffic struct {
	subject   *Subject
	reference operators.ReferenceModel // model of the player that receives the events
	own       source                   // seeded by the purpose: draws the events that differ between purposes
	public    *rand.Rand               // draws keys, the same for all purposes
	common    source                   // draws the events that are the same for all purposes
	same      bool                     // the source common drew the last event
	answers   bool                     // decisions answer single records, so common draws some of the events
	dense     []float64
	waiting   []operators.Record // further records of events that have begun; traffic may send them after this step
	open      []operators.Record // records of events begun in earlier steps; traffic may send them in this step
	keys      [][]byte           // recently used keys
}

// source draws the contents of events.
type source struct {
	rng    *rand.Rand
	number int // the coordinate along which the next event lies
}

func (a *Subject) sourceOf(purpose string, run uint64) source {
	rng := a.random(purpose, run)
	return source{rng: rng, number: rng.IntN(a.numbers())}
}

// Limits of the keys and waiting records that a run remembers.
const (
	mostKeys    = 16
	mostWaiting = 64
)

func (a *Subject) newTraffic(reference operators.ReferenceModel) *traffic {
	output := operators.SecondTopicOf(a.operator)
	return &traffic{
		subject: a, reference: reference, dense: a.dense(a.random("direction", 1)), answers: output != nil && output.Own,
	}
}

// begin starts drawing the events of another run.
func (c *traffic) begin(purpose string, run uint64) {
	c.own, c.common = c.subject.sourceOf(purpose, run), c.subject.sourceOf("common", run)
	c.public = c.subject.random("keys", run)
	c.waiting, c.open, c.keys = nil, nil, nil
}

// step marks the end of a step: records that were waiting may come from then on.
func (c *traffic) step() {
	c.open = append(c.open, c.waiting...)
	c.waiting = nil
	for len(c.open) > mostWaiting { // drops the oldest records
		c.open = c.open[1:]
	}
}

func (c *traffic) next() operators.Record {
	c.same = false
	which := c.public.IntN(16)
	if at := c.public.IntN(mostWaiting); which < 8 && len(c.open) > 0 {
		at %= len(c.open)
		r := c.open[at]
		c.open = append(c.open[:at:at], c.open[at+1:]...)
		c.keys = append(c.keys, r.Key)
		r.Null = r.Null || c.own.rng.IntN(8) == 0
		return r
	}
	from := &c.own
	if which%2 == 0 && c.answers {
		from, c.same = &c.common, true
	}
	all, _ := c.reference.Records(c.event(from))
	key := all[0].Key
	if len(key) == 0 {
		return all[0]
	}
	if at := c.public.IntN(mostKeys); which == 15 && len(c.keys) > 0 {
		r := all[len(all)-1]
		r.Key = c.keys[at%len(c.keys)]
		return r
	}
	c.waiting = append(c.waiting, all[1:]...)
	if len(all) == 1 {
		c.keys = append(c.keys, key)
	}
	if len(c.keys) > mostKeys {
		c.keys = c.keys[1:]
	}
	return all[0]
}

// event returns a possible next event.
func (c *traffic) event(s *source) operators.Record {
	u, factor := c.dense, 1.0
	switch kind := s.rng.IntN(8); kind {
	case 0:
		first, _ := c.reference.Canary(u, 0)
		return operators.Record{Null: true, Key: first.Key} // keys are public, so the null event keeps its key
	case 1, 2, 3:
		s.number = (s.number + 1) % c.subject.numbers()
		if u = c.subject.axis(s.number); kind == 3 {
			factor = 1 << 20
		}
	case 5, 6:
		u = c.subject.dense(s.rng)
		// Factors from below the lattice's resolution to more than twice the clip.
		factor = math.Exp2(20*s.rng.Float64()-20) / operators.CanaryFactor * 2
	case 7:
		factor = 0
	}
	first, second := c.reference.Canary(u, factor)
	if s.rng.IntN(2) == 0 {
		return first
	}
	return second
}
