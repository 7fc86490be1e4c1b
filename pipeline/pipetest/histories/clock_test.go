package histories

import (
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/mechanisms/steps"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/schemas/decision"
	"oriel/schemas/event"
	"oriel/schemas/text"
	"oriel/state"
)

// byClock describes a history whose steps the clock closes.
type byClock struct {
	steps.Clock
	appended  bool           // the input has the brokers' times (LogAppendTime), else the producers' times
	users     *streams.Users // nil: each event is protected by itself
	mechanism string
	delay     time.Duration // time from the end of a step to its decision
	phase     time.Duration // time from a full second to the beginning of the history
	calm      bool          // faults follow from times alone, and there is a neighbour
	opens     time.Duration // when the first process starts
	first     time.Duration // a moment of the first step; 0: the moment of the opening
}

// writeClock lets the clock close the steps of a history of a whole topic. All times of the script are stretched, so
// that long steps end, and a process may be away for minutes.
func (s *script) writeClock(random *rand.Rand) {
	length := pick[int64](random, 1, 1, 1, 2, 2, 3, 5, 10, 60)
	c := &byClock{
		Clock: steps.Clock{Length: length, Offset: random.Int64N(length)}, appended: random.IntN(2) == 0,
		mechanism: pick(random, "once-gaussian", "once-laplace"),
		delay:     pick[time.Duration](random, 2500, 3100, 5000) * time.Millisecond,
		phase:     within(random, 0, time.Second),
	}
	if random.IntN(2) == 0 {
		period := steps.Clock{Length: length * pick[int64](random, 1, 2, 10, 60), Offset: c.Offset}
		c.users = &streams.Users{Period: period, Events: pick[uint64](random, 1, 2)}
	}
	s.clock, s.second, s.owed = c, 0, 0
	s.span = max(span, time.Duration(3*length)*time.Second)
	if len(s.deaths) > 0 && random.IntN(2) == 0 {
		i := random.IntN(len(s.deaths))
		s.deaths[i].pause = within(random, 20*time.Second, 2*time.Minute)
		s.span += s.deaths[i].pause
		again := death{member: "a", n: 20 + random.IntN(60), heard: random.IntN(2) == 0, disk: pick(random, "kept", "lost")}
		if random.IntN(2) == 0 { // after the transaction of all steps of the outage but the last one
			again.point, again.n = notice.PointEnded, 1
		}
		s.deaths = slices.Insert(s.deaths, i+1, again)
	}
	stretch := func(at *time.Duration) { *at = time.Duration(float64(*at) * float64(s.span) / float64(span)) }
	for i := range s.bursts {
		stretch(&s.bursts[i].at)
	}
	for i := range s.faults {
		stretch(&s.faults[i].from)
		stretch(&s.faults[i].to)
	}
	for i := range s.acts {
		stretch(&s.acts[i].at)
	}
	if c.calm = random.IntN(2) == 0; c.calm {
		s.calm(random)
	}
	if c.opens = time.Nanosecond; random.IntN(3) == 0 {
		c.opens = within(random, 0, s.span/4)
		if c.appended && random.IntN(2) == 0 {
			c.first = within(random, time.Nanosecond, c.opens+time.Nanosecond)
		}
	}
	if random.IntN(3) == 0 { // so that commits are due while the records of a slot are taken
		s.slow, s.interval = 20*time.Millisecond, 50*time.Millisecond+7*time.Nanosecond
	}
}

// mechanism returns the name of the mechanism of the history's machines.
func (s script) mechanism() string {
	if s.clock != nil {
		return s.clock.mechanism
	}
	return "tree-gaussian"
}

// prepareClock makes the topics of a deployment by the clock.
func (p *play) prepareClock() {
	c, t := p.script.clock, p.t
	time.Sleep(c.phase)
	p.setup.Model.Clock, p.setup.Model.Users = c.Clock, c.users
	p.setup.Config.StepDelay, p.setup.Config.StepGrace = c.delay, 2*time.Second
	p.setup.Config.Start = deployment.StartLatest
	if c.first > 0 {
		p.setup.Config.Begin = time.Now().Add(c.first)
	}
	kind := map[bool]string{true: "LogAppendTime", false: "CreateTime"}[c.appended]
	err := topics.Create(t.Context(), p.client, p.setup.Config.Input, p.script.partitions, 1,
		map[string]string{"message.timestamp.type": kind})
	if err == nil {
		err = p.setup.Topics(t.Context(), p.client, func(string) {})
	}
	if err != nil {
		t.Fatal(err)
	}
}

// statesByClock is the guarantee that decisions by the clock state. It is made up.
var statesByClock = protection.Guarantee{
	Terms:     protection.Terms{Scope: protection.PerStep{}, Unit: protection.Event{Exchange: dp.AddRemove}},
	Mechanism: "blind", Epsilon: 1, Delta: 1e-6, Mu: 1,
}

// awaitDecision waits until the step in progress has its decision, by the clock. Requests that were delayed before all
// was mended may take some time.
func (p *play) awaitDecision() {
	c := p.script.clock
	if c == nil {
		return
	}
	p.out.due = c.Of(time.Now().Unix())
	p.wait(p.now() + time.Until(time.Unix(c.End(p.out.due), 0)) + c.delay)
	for from := p.now(); !p.decided(p.out.due); p.wait(p.now() + time.Second) {
		if p.now() > from+time.Minute {
			p.out.wrong("stuck", "a minute after step %d, it has no decision", p.out.due)
			return
		}
	}
}

// decided reports whether a step by the clock is closed. After a torn transaction its decision may be missing still.
func (p *play) decided(step uint64) bool {
	if p.standing(0).slot < p.script.clock.End(step) {
		return false
	}
	return slices.ContainsFunc(p.read(place{p.setup.Config.Decisions, 0}), func(e entry) bool {
		d, err := decision.Parse(e.record.Value)
		return err == nil && e.committed && d.Step == step
	})
}

// begin sets a rule to the start of a stream by the clock.
func (c *byClock) begin(r *rule, start *state.Ordered) {
	r.clock, r.next = true, map[int32]int64{}
	if r.slot = start.Slot - 1; c.first > 0 {
		r.slot-- // records before the first step are in this slot, from the beginning of the input on
		return
	}
	for _, part := range start.Parts {
		r.ends[part.Partition], r.next[part.Partition] = part.Next, part.Next
	}
}

// early reports whether a record is before the first step.
func (o *outcome) early(s spot) bool { return o.script.clock != nil && s.slot < o.start.Slot }

// limit returns a function that applies the limit of a user's records in a period. It must be called with each record
// in the order of the order log.
func (o *outcome) limit() func(spot) text.Code {
	c, start, counts := o.script.clock, o.start, map[string]uint64{}
	return func(s spot) text.Code {
		switch {
		case c == nil || c.users == nil || s.slot < start.Slot:
			return text.OK
		case len(s.entry.record.Key) == 0:
			return text.NoUser
		}
		user := fmt.Sprintf("%d %s", c.users.Period.Of(s.slot), s.entry.record.Key)
		if counts[user]++; counts[user] > c.users.Events {
			o.count("user with too many records")
			return text.TooMany
		}
		return text.OK
	}
}

// walkByClock describes how the committed decisions differ from one decision of each step, of the events in its slots.
// It returns "" if they are equal.
func (o *outcome) walkByClock(
	t *testing.T, key [32]byte, merged []spot, versions map[uint64]float64, got []decision.Decision,
) string {
	t.Helper()
	c, stream := o.script.clock, straight(t, o.script.clock.mechanism, key)
	decoder, event := newDecoder(t), event.Event{}
	first := c.Of(o.start.Slot)
	o.count("by the clock")
	for i := range got {
		step, records := first+uint64(i), len(merged)
		for len(merged) > 0 && c.Of(merged[0].slot) <= step {
			s := merged[0]
			if merged = merged[1:]; s.code != text.OK || o.early(s) {
				continue
			}
			ev, _ := decoded(decoder, &event, s.entry.record)
			stream.Add(noise.Identity{
				Topic: o.topic, Partition: s.partition, Offset: s.offset, LeaderEpoch: s.entry.record.LeaderEpoch,
			}, []float64{float64(ev.Label * min(1, max(-1, ev.Vector.Values[0])))})
		}
		stream.Close()
		o.add("empty step", b2i(len(merged) == records))
		want := append([]float64{float64(i + 1), 0, versions[step]}, published(stream.Sum(0)[0])...)
		switch d := got[i]; {
		case d.Index != step || d.Step != step:
			return fmt.Sprintf("the decision of step %d stands where that of step %d belongs", d.Step, step)
		case d.Time() != c.End(step)*1000:
			return fmt.Sprintf("the decision of step %d has the time %d", step, d.Time())
		case !slices.Equal(d.Point, want):
			return fmt.Sprintf("the decision of step %d is not that of a straight replay", step)
		}
	}
	if last := first + uint64(len(got)); last <= o.due {
		return fmt.Sprintf("the decision of step %d is missing at the end", last)
	}
	return ""
}

// withRecords returns the statuses of offsets with a record, and their places. Each offset must have exactly one.
func (o *outcome) withRecords(joined []byte, places []at) (statuses []byte, of []at) {
	entries, seen := o.input(), map[at]bool{}
	for i, a := range places {
		if seen[a] {
			o.wrong("rows", "two statuses of %v", a)
		}
		if seen[a] = true; entries[a] != nil && i < len(joined) {
			statuses, of = append(statuses, joined[i]), append(of, a)
		}
	}
	for p, end := range o.ends {
		part, _ := o.start.Part(p.partition)
		for offset := part.Next; offset < end; offset++ {
			if one := (at{p.partition, offset}); !seen[one] {
				o.wrong("rows", "no status of %v", one)
				return statuses, of
			}
			delete(seen, at{p.partition, offset})
		}
	}
	for _, a := range slices.Collect(maps.Keys(seen)) {
		o.wrong("rows", "a status of %v, which the stream does not have", a)
	}
	return statuses, of
}

// takeSaves counts the states by the clock that stand within a slot, of whose records they have some.
func (o *outcome) takeSaves(states []entry, within map[int64]orderedBy) {
	for _, e := range states {
		if at, _ := stands(e.record.Value); o.script.clock != nil {
			some, all := false, true
			for _, s := range within[at.record].spots {
				if s.slot == at.slot {
					some, all = some || at.taken(s), all && at.taken(s)
				}
			}
			o.counts["saved within a slot"] += b2i(some && !all)
		}
	}
}

// takeTakeOver counts the paths of a take-over by the clock at a state, whose offset in the changelog is given.
func (o *outcome) takeTakeOver(at standing, record orderedBy, offset int64) {
	c := o.script.clock
	if c == nil {
		return
	}
	closed := at.slot > o.start.Slot && c.Begin(c.Of(at.slot)) == at.slot
	between := closed && at.slot > record.before+1 && at.slot <= record.to
	o.counts["take-over between two steps of an order record"] += b2i(between)
	if c.users == nil {
		return
	}
	parts := slices.ContainsFunc(o.logs[place{"late.changelog", 0}], func(e entry) bool {
		key := string(e.record.Key)
		return e.committed && e.record.Offset < offset && e.record.Value != nil && state.IsSegmentKey(key) &&
			binary.BigEndian.Uint64([]byte(key[17:])) == c.users.Period.Of(at.slot)
	})
	o.counts["users of a period restored"] += b2i(parts)
}
