package order

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// play is a course of a cluster: what happens at which time, whatever the records are. Its order records are not drawn:
// sequencers write them, from what they see of the input and of each other. So an inserted record may change which
// entries an order record has.
type play struct {
	leads [][]leadership // of each partition, by time
	acts  []act
	base  int64 // time before the first act, ms
}

// leadership is the time of a leader.
type leadership struct {
	from   int64 // ms
	behind int64 // by which the leader's clock is behind, ms
}

// act is something that happens at a time.
type act struct {
	at        int64 // ms
	partition int32 // of a record; −1: a sequencer looks
	id        int
	stamped   bool // the topic's type is LogAppendTime

	// of a sequencer
	ahead  int64   // by which its clock is ahead, ms
	unread int64   // it has read the order log only up to so long ago, ms
	stale  []int64 // and asks leaders of so long ago, by partition, ms
}

// options say what may happen in a play.
type options struct {
	sequencers   int
	staleLeaders bool
	stamped      bool // LogAppendTime; else CreateTime
	switches     bool // of the topic's type
	back         bool // a new leader's clock may be behind the earlier one's
	moves        bool // then a record may move others
}

// lasts is the time that a play takes, in ms.
const lasts = 12_000

func newPlay(seed uint64, o options) *play {
	rng := rand.New(rand.NewPCG(seed, 31))
	p := &play{base: 100_000}
	n := 1 + rng.IntN(3)
	for range n {
		leads := []leadership{{0, rng.Int64N(200)}}
		for at := p.base + rng.Int64N(lasts); at < p.base+lasts; at += 500 + rng.Int64N(lasts) {
			next := leadership{at, leads[len(leads)-1].behind - rng.Int64N(100)}
			if o.back {
				next.behind += rng.Int64N(4000)
			}
			leads = append(leads, next)
		}
		p.leads = append(p.leads, leads)
	}
	stamped := o.stamped
	for at, id := p.base, 1; at < p.base+lasts; at, id = at+rng.Int64N(600), id+1 {
		if o.switches && rng.IntN(10) == 0 {
			stamped = !stamped
		}
		p.acts = append(p.acts, act{at: at, partition: rng.Int32N(int32(n)), id: id, stamped: stamped})
	}
	for range o.sequencers {
		ahead := rng.Int64N(1500) - 750
		down := p.base + rng.Int64N(2*lasts) // it does not write for some time
		for tick := p.base / 1000; tick < (p.base+lasts)/1000+6; tick++ {
			at := tick*1000 + rng.Int64N(400)
			if at > down && at < down+4000 || o.sequencers > 1 && rng.IntN(3) == 0 {
				continue
			}
			a := act{at: at, partition: -1, ahead: ahead, stale: make([]int64, n)}
			if o.sequencers > 1 && rng.IntN(2) == 0 {
				a.unread = rng.Int64N(2500)
			}
			for q := range a.stale {
				if o.staleLeaders && rng.IntN(2) == 0 {
					a.stale[q] = rng.Int64N(3000)
				}
			}
			p.acts = append(p.acts, a)
		}
	}
	slices.SortStableFunc(p.acts, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	return p
}

// epoch returns the leader epoch of a partition at a time, and how much the leader's clock is behind.
func (p *play) epoch(partition int32, at int64) (epoch int32, behind int64) {
	for i, l := range p.leads[partition] {
		if l.from <= at {
			epoch, behind = int32(i), l.behind
		}
	}
	return epoch, behind
}

// run plays the acts, with those that are added, and returns the resulting logs.
func (p *play) run(added ...act) *world {
	w := &world{log: testLog, start: &state.Ordered{}, inputs: make([][]event, len(p.leads))}
	w.log.ByClock = true
	acts := append(slices.Clone(p.acts), added...)
	slices.SortStableFunc(acts, func(a, b act) int { return cmp.Compare(a.at, b.at) })
	times := make([][]int64, len(p.leads)) // at which each record came
	var wrote []int64                      // at which each order record was written
	for _, a := range acts {
		if a.partition >= 0 {
			e := event{id: a.id}
			_, behind := p.epoch(a.partition, a.at)
			e.Timestamp, e.Appended = a.at-behind, a.stamped
			w.inputs[a.partition] = append(w.inputs[a.partition], e)
			times[a.partition] = append(times[a.partition], a.at)
			continue
		}
		// the vector of a sequencer, from the order log as far as it has read
		read, _ := slices.BinarySearch(wrote, a.at-a.unread)
		seen := &state.Ordered{Slot: p.base / 1000}
		for _, r := range w.orders[:read] {
			is, _ := w.log.Parse(r.Value)
			if is.Counts(seen, r.Public) {
				Enter(nil, seen, w.start, is.Entries)
				w.log.Leave(seen, is.Slot)
			}
		}
		var ends []topics.End
		for q := range p.leads {
			at := a.at - a.stale[q]
			epoch, _ := p.epoch(int32(q), at)
			end, _ := slices.BinarySearch(times[q], at+1)
			ends = append(ends, topics.End{Partition: int32(q), Offset: int64(end), Epoch: epoch})
		}
		s := Sequencer{Log: w.log, Start: w.start, Grace: DefaultGrace}
		r, _, due := s.record(seen, ends, time.UnixMilli(a.at+a.ahead))
		if due {
			own := records.Record{Public: records.Public{Timestamp: a.at, Appended: true}, Value: w.log.Append(nil, r)}
			w.orders, wrote = append(w.orders, own), append(wrote, a.at)
		}
	}
	return w
}

func (p *play) first() *state.Ordered { return &state.Ordered{LeaderEpoch: -1, Slot: p.base / 1000} }

// TestPresenceMovesNoOtherRecord inserts a record into plays of a whole cluster. No other record may change its slot or
// place, except where a clock is set back or the topic's type changes.
func TestPresenceMovesNoOtherRecord(t *testing.T) {
	for _, o := range []options{
		{sequencers: 1},
		{sequencers: 1, staleLeaders: true},
		{sequencers: 2, staleLeaders: true, back: true}, // nothing depends on clocks of leaders with CreateTime
		{sequencers: 1, staleLeaders: true, stamped: true},
		{sequencers: 2, staleLeaders: true, stamped: true},
		{sequencers: 1, stamped: true, back: true, moves: true},
		{sequencers: 1, switches: true, moves: true},
	} {
		ordered, moved := 0, 0
		for seed := range tiertest.Runs(uint64(400), 100_000) {
			p := newPlay(seed, o)
			rng := rand.New(rand.NewPCG(seed, 32))
			added := act{at: p.base + rng.Int64N(lasts), partition: rng.Int32N(int32(len(p.leads))), stamped: o.stamped}
			for _, a := range p.acts {
				if a.partition >= 0 && a.at <= added.at {
					added.stamped = a.stamped
				}
			}
			without, with := p.run().merge(p.first(), -1), p.run(added).merge(p.first(), -1)
			ordered += len(with) - len(without)
			with = slices.DeleteFunc(with, func(q piece) bool { return q.id == added.id })
			same := slices.EqualFunc(without, with, func(a, b piece) bool { return a.id == b.id && a.slot == b.slot })
			if !same {
				moved++
			}
			if !same && !o.moves {
				t.Fatalf("%+v, seed %d: with a record at %+v the order of the others is\n%v, and without\n%v", o, seed, added, with, without)
			}
		}
		if ordered < 300 || o.moves && moved == 0 {
			t.Errorf("%+v: %d of the records were ordered, and %d moved others", o, ordered, moved)
		}
	}
}
