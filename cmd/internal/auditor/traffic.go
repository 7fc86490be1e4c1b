package auditor

import (
	"math"
	"math/rand/v2"

	"oriel/operators"
)

// traffic makes events of all kinds, whose leaves an auditor knows: far beyond the clip in a random direction or along
// one number of the contribution, about the clip, far below it, of weight 0, and none at all.
//
// Where events have keys, some records come under a key that has come before: as an answer that is sent again may, or
// as the reward that a context waits for. Which keys come, and when, is public: it is the same for all purposes of a
// run.
type traffic struct {
	subject   *Subject
	reference operators.ReferenceModel // of the player that they are for
	own       source                   // of the purpose's events
	public    *rand.Rand               // decides keys
	common    source                   // of events that are the same for all purposes
	same      bool                     // the last event was one
	answers   bool                     // a decision answers each record: then some events are common
	dense     []float64
	waiting   []operators.Record // that carry an event of which another record came
	open      []operators.Record // and those that may come, since a step has ended
	keys      [][]byte           // of late
}

// source draws what events say.
type source struct {
	rng    *rand.Rand
	number int // of those of a leaf, that an event is along
}

func (a *Subject) sourceOf(purpose string, run uint64) source {
	rng := a.random(purpose, run)
	return source{rng: rng, number: rng.IntN(a.numbers())}
}

// What is remembered of the keys of a run.
const (
	mostKeys    = 16
	mostWaiting = 64
)

func (a *Subject) newTraffic(twin operators.ReferenceModel) *traffic {
	output := operators.SecondTopicOf(a.operator)
	return &traffic{
		subject: a, reference: twin, dense: a.dense(a.random("direction", 1)), answers: output != nil && output.Own,
	}
}

// begin draws another run's events.
func (c *traffic) begin(purpose string, run uint64) {
	c.own, c.common = c.subject.sourceOf(purpose, run), c.subject.sourceOf("common", run)
	c.public = c.subject.random("keys", run)
	c.waiting, c.open, c.keys = nil, nil, nil
}

// step says that a step has ended: what waits may come.
func (c *traffic) step() {
	c.open = append(c.open, c.waiting...)
	c.waiting = nil
	for len(c.open) > mostWaiting { // some never come
		c.open = c.open[1:]
	}
}

// next returns the record that comes next.
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

// event returns an event that may come next.
func (c *traffic) event(s *source) operators.Record {
	u, factor := c.dense, 1.0
	switch kind := s.rng.IntN(8); kind {
	case 0:
		first, _ := c.reference.Canary(u, 0)
		return operators.Record{Null: true, Key: first.Key} // a key is public, whatever the record says
	case 1, 2, 3:
		s.number = (s.number + 1) % c.subject.numbers()
		if u = c.subject.axis(s.number); kind == 3 {
			factor = 1 << 20
		}
	case 5, 6:
		u = c.subject.dense(s.rng)
		// from below the lattice's digits to twice the clip and more
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
