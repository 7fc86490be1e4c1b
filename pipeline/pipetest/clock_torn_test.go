package pipetest_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/replay"
	"oriel/pipeline/transaction"
	"oriel/state"
)

// clocked is a deployment whose steps the clock closes, for torn transactions. Decisions are due shortly after slots
// are closed, so that records of the last second of a step come with its decision.
type clocked struct {
	*byClock
	delay time.Duration
}

// newClocked opens a deployment whose records have the brokers' times or the producers'. It may limit the records of
// users in periods.
func newClocked(t *testing.T, times string, users bool) (c *clocked, checkpoint []byte) {
	t.Helper()
	const delay = 2500 * time.Millisecond
	const most = 3 // steps of 20 s that share a transaction
	c = &clocked{newByClock(t, 20, times, func(s *pipetest.Setup) {
		s.Config.StepDelay = delay
		if users {
			limitUsers(s)
		}
		s.Listener.Note = func(_ int32, _, text string) {
			_, after, _ := strings.Cut(text, "(decisions: ")
			var decisions int
			if _, _ = fmt.Sscanf(after, "%d", &decisions); decisions > most {
				t.Errorf("more steps than any transaction had: %s", text)
			}
		}
	}), delay}
	a := c.Start("a", simtest.NewDisk(), c.setup.Run)
	time.Sleep(2 * time.Second)
	checkpoint = c.checkpoint()
	c.events(7)
	c.until(c.step() + 2*c.clock.Length + 10)
	c.check(a.Stop())
	return c, checkpoint
}

// step returns the end of the step in progress.
func (c *clocked) step() int64 { return c.clock.End(c.clock.Of(time.Now().Unix())) }

func (c *clocked) until(second int64) { time.Sleep(time.Until(time.Unix(second, 0))) }

// events appends n records to each partition.
func (c *clocked) events(n int) {
	c.t.Helper()
	for p := range int32(3) {
		c.put(p, n)
	}
}

// tornKinds are the transactions that are torn. Each is called with a process that has repaired everything, and which
// then dies when the next transaction is sent.
var tornKinds = []struct {
	name string
	make func(c *clocked)
}{
	{"saving", func(c *clocked) {
		for range 8 {
			c.events(1)
			time.Sleep(500 * time.Millisecond)
		}
	}},
	{"slots", func(*clocked) {}},
	{"empty step", func(c *clocked) { c.lastSecond(0) }},
	{"records of its last second", func(c *clocked) { c.lastSecond(5) }},
	{"several steps", nil},
	{"repair", nil},
}

// lastSecond appends records in the last second of a step, and returns when no saving begins before its decision.
func (c *clocked) lastSecond(n int) {
	end := c.step()
	c.until(end - 1)
	time.Sleep(500 * time.Millisecond)
	c.events(n)
	time.Sleep(time.Until(time.Unix(end, 0).Add(c.delay - 900*time.Millisecond)))
}

// tear runs a process until all records of a transaction are acknowledged, and commits some of its parts. A transaction
// of several steps is the first one after an outage. A repair is the first one after a torn transaction.
func (c *clocked) tear(name string, kind int, committed []pipetest.Part) {
	c.t.Helper()
	make := tornKinds[kind].make
	var a *simtest.Member
	if kind < len(tornKinds)-1 {
		a = c.Start(name, simtest.NewDisk(), c.setup.Run)
		c.until(c.step() + 8) // time to repair the transaction before
	}
	if make == nil && a != nil {
		c.check(a.Stop())
		for range 4 {
			time.Sleep(15 * time.Second)
			c.events(3)
		}
		c.until(c.step() + 10)
	}
	if make != nil {
		make(c)
	}
	torn, err := c.setup.Tear(c.t.Context(), c.Client(), 0)
	c.check(err)
	if make == nil {
		a = c.Start(name+"'", simtest.NewDisk(), c.setup.Run)
	}
	a.KillAt(notice.PointProduced, 1)
	<-a.Done()
	c.check(torn.Commit(c.t.Context(), committed, pipetest.Whatever))
	c.check(c.setup.Examine(c.t.Context(), c.Client(), simtest.NewDisk()))
}

// areWhole checks the committed records. Each closed step must have one decision, with the sum of its records and the
// bytes of a replay. Rows of statuses must join from place to place. The state and the group must stand at their end.
func (c *clocked) areWhole(checkpoint []byte) {
	c.t.Helper()
	is, err := c.deployment().Ordered(c.t.Context())
	c.check(err)
	var got []string
	var steps []uint64
	for _, line := range c.expected() {
		var k uint64
		_, _ = fmt.Sscanf(line, "step %d", &k)
		steps = append(steps, k)
	}
	if due := c.clock.Of(is.At.Slot) - 1; due < steps[len(steps)-1] {
		steps = slices.DeleteFunc(steps, func(k uint64) bool { return k > due }) // closed in the order log, and not due yet
	}
	for _, d := range c.committed([2][]uint64{steps}) {
		got = append(got, fmt.Sprintf("step %d at %d: %.0f events, %.0f", d.Step, d.Time(), d.Point[0], d.Point[1]))
	}
	slices.Sort(got)
	if got, want := slices.Compact(got), c.expected()[:len(steps)]; !slices.Equal(got, want) {
		c.t.Errorf("decisions %q, want %q", got, want)
	}
	for _, r := range c.read(c.setup.Config.Decisions, false) {
		d := decisionIn(c.t, r)
		if due := d.Time() + c.delay.Milliseconds(); r.Timestamp != due || d.Index != d.Step {
			c.t.Errorf("decision %d of step %d has the timestamp %d, want %d", d.Index, d.Step, r.Timestamp, due)
		}
	}
	sealer, err := sealerOf(c.t.Context(), c.setup, c.Client(), 0)
	c.check(err)
	stands := state.Place{Slot: is.Start.Slot}
	for _, r := range c.read(c.setup.Config.Verdicts, false) {
		row, err := sealer.OpenStatuses(r.Value)
		if err != nil || row.From != stands {
			c.t.Errorf("statuses from %v to %v follow those up to %v: %v", row.From, row.To, stands, err)
		}
		stands = row.To
	}
	if want := (state.Place{Slot: is.At.Slot, Next: int64(c.seq)}); stands != want {
		c.t.Errorf("statuses end at %v, the state at %v", stands, want)
	}
	config := c.setup.Config
	offsets, err := group.CommittedOffsets(c.t.Context(), c.Client(), config.Group, config.Input, []int32{0, 1, 2})
	slot := int64(0)
	for p, o := range offsets {
		slot = max(slot, transaction.SlotOf(o.Note))
		if part, _ := is.At.Part(int32(p)); o.Offset != part.Next {
			c.t.Errorf("the group stands at %d in partition %d, the state at %d", o.Offset, p, part.Next)
		}
	}
	if err != nil || slot != is.At.Slot {
		c.t.Errorf("the group stands at slot %d, the state at %d: %v", slot, is.At.Slot, err)
	}
	kept := map[string]string{} // incarnation and period of parts of users
	for _, r := range c.read(c.setup.Config.Changelog, false) {
		switch key := string(r.Key); {
		case !state.IsSegmentKey(key):
		case r.Value == nil:
			delete(kept, key)
		default:
			kept[key] = key[:len(key)-4]
		}
	}
	periods := slices.Compact(slices.Sorted(maps.Values(kept)))
	if most := map[bool]int{true: 1}[c.setup.Model.Users != nil]; len(periods) != most {
		c.t.Errorf("the changelog keeps the users of %d periods", len(periods))
	}
	if n, err := replay.Check(c.t.Context(), c.deployment(), 0, checkpoint, func(int) {}); err != nil || n != len(steps) {
		c.t.Errorf("%d decisions recomputed, %v; want %d", n, err, len(steps))
	}
}

// TestTornTransactionsByTheClock plays each way in which a transaction may have ended in some of its parts and not in
// others, for each kind of transaction. Another way and another kind follow. The short form tries some of the ways.
func TestTornTransactionsByTheClock(t *testing.T) {
	parts := pipetest.NewSetup().Parts()
	for kind := range tornKinds {
		for bits := range 1 << len(parts) {
			if tiertest.Runs((bits+kind)%5 != 1, false) {
				continue
			}
			again := (5*bits + bits/4 + 1) % (1 << len(parts))
			name := fmt.Sprintf("%s %v/%v", tornKinds[kind].name, subset(parts, bits), subset(parts, again))
			t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					c, checkpoint := newClocked(t, []string{"CreateTime", "LogAppendTime"}[bits%2], bits/2%2 == kind%2)
					c.tear("b", kind, subset(parts, bits))
					c.tear("c", (kind+1+bits/4)%len(tornKinds), subset(parts, again))
					last := c.Start("d", simtest.NewDisk(), c.setup.Run)
					c.until(c.step() + 10)
					c.check(last.Stop())
					c.areWhole(checkpoint)
				})
			})
		}
	}
}
