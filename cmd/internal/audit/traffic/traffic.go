package traffic

import (
	"math"
	"math/rand/v2"

	"oriel/cmd/internal/audit/subject"
	"oriel/operators"
)

// Traffic makes background events of all kinds, whose contributions an auditor knows. Their gradients are far beyond
// the clip in a random direction or along one number of the contribution, near the clip, far below it, of weight 0, or
// null.
//
// If events have keys, some records repeat an earlier key: as feedback that is sent again, or as the reward for a
// waiting context. Keys and their times are public, so they are the same for all purposes of a run.
type Traffic struct {
	subject   *subject.Subject
	reference operators.ReferenceModel // model of the player that receives the events
	own       source                   // seeded by the purpose: draws the events that differ between purposes
	public    *rand.Rand               // draws keys, the same for all purposes
	common    source                   // draws the events that are the same for all purposes
	Same      bool                     // the source common drew the last event
	answers   bool                     // decisions answer single records, so common draws some of the events
	dense     []float64
	waiting   []operators.Record // further records of events that have begun; traffic may send them after this step
	open      []operators.Record // records of events begun in earlier steps; traffic may send them in this step
	keys      [][]byte           // recently used keys
	places    *rand.Rand         // draws at, the same for all purposes
	at        [2]uint64          // places of events in this step
}

// source draws the contents of events.
type source struct {
	rng    *rand.Rand
	number int // the coordinate along which the next event lies
}

func sourceOf(a *subject.Subject, purpose string, run uint64) source {
	rng := a.Random(purpose, run)
	return source{rng: rng, number: rng.IntN(a.Numbers())}
}

// Limits of the keys and waiting records that a run remembers.
const (
	mostKeys    = 16
	mostWaiting = 64
)

// New returns traffic for a stream whose decisions the reference model observes.
func New(a *subject.Subject, reference operators.ReferenceModel) *Traffic {
	output := operators.SecondTopicOf(a.Operator)
	return &Traffic{
		subject: a, reference: reference, dense: a.Dense(a.Random("direction", 1)), answers: output != nil && output.Own,
	}
}

// Begin starts drawing the events of another run.
func (c *Traffic) Begin(purpose string, run uint64) {
	c.own, c.common = sourceOf(c.subject, purpose, run), sourceOf(c.subject, "common", run)
	c.public, c.places = c.subject.Random("keys", run), c.subject.Random("places of events", run)
	c.waiting, c.open, c.keys = nil, nil, nil
}

// Step starts the next step: it draws the places of events. Records that were waiting may come from then on.
func (c *Traffic) Step() {
	batch := c.subject.Places()
	c.at = [2]uint64{c.places.Uint64N(batch), c.places.Uint64N(batch)}
	c.open = append(c.open, c.waiting...)
	c.waiting = nil
	for len(c.open) > mostWaiting { // drops the oldest records
		c.open = c.open[1:]
	}
}

// Random returns the source of random events of the run's own purpose.
func (c *Traffic) Random() *rand.Rand { return c.own.rng }

// At returns the record at a place of the step: an event at two random places, and null records elsewhere. It reports
// whether the record is the same for all purposes.
func (c *Traffic) At(place uint64) (r operators.Record, same bool) {
	if place != c.at[0] && place != c.at[1] {
		return operators.Record{Null: true}, true
	}
	return c.Next(), c.Same
}

// Next returns the next record, which is an event or stands for one.
func (c *Traffic) Next() operators.Record {
	c.Same = false
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
		from, c.Same = &c.common, true
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
func (c *Traffic) event(s *source) operators.Record {
	u, factor := c.dense, 1.0
	switch kind := s.rng.IntN(8); kind {
	case 0:
		first, _ := c.reference.Canary(u, 0)
		return operators.Record{Null: true, Key: first.Key} // keys are public, so the null event keeps its key
	case 1, 2, 3:
		s.number = (s.number + 1) % c.subject.Numbers()
		if u = c.subject.Axis(s.number); kind == 3 {
			factor = 1 << 20
		}
	case 5, 6:
		u = c.subject.Dense(s.rng)
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
