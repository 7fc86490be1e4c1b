package pipetest_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/replay"
)

// shock is a failure at a request of an opening; requests are counted from the start of the process.
type shock struct {
	request int
	what    string // how the process or its connection ends: died, died heard (the request is done), cut, lost
}

// lives reports whether the process survives the shock, because only its connection ends.
func (s shock) lives() bool { return s.what == "cut" || s.what == "lost" }

func (s shock) hit(d *simtest.Deployment, a *simtest.Member) {
	if !s.lives() {
		a.KillAtRequest(s.request, s.what == "died heard")
		return
	}
	effect := simtest.Cut
	if s.what == "lost" {
		effect = simtest.Lost
	}
	d.Fail(simtest.Fault{
		Kind: simtest.Kind{Member: a.Name, Partition: simtest.AnyPartition}, Skip: s.request - 1, Effect: effect,
	})
}

// opened is a deployment whose machines owe some decisions before the first record.
type opened struct {
	owed   int
	second uint64
}

func (o opened) setup() pipetest.Setup { return pipetest.NewSetup().Owing(o.owed, o.second) }

// requests returns the numbers of the first and the last request of an undisturbed opening, among all requests of its
// process.
func (o opened) requests(t *testing.T) (first, last int) {
	synctest.Test(t, func(t *testing.T) {
		h := o.prepared(t)
		a := h.Start("a", simtest.NewDisk(), h.setup.Run)
		time.Sleep(2 * time.Second)
		for i, r := range h.Requests() {
			if r.API == "InitProducerID" && first == 0 {
				first = i + 1
			}
			if r.API == "EndTxn" {
				last = i + 1
			}
		}
		if err := a.Stop(); err != nil {
			t.Error(err)
		}
	})
	return first, last
}

func (o opened) prepared(t *testing.T) *history {
	t.Helper()
	h := &history{t: t, Deployment: simtest.New(t), setup: o.setup(), every: o.second}
	if err := h.setup.Prepare(t.Context(), h.Client(), 1); err != nil {
		t.Fatal(err)
	}
	return h
}

// survives plays an opening through shocks. After each shock the process is started again on its disk.
func (o opened) survives(t *testing.T, shocks ...shock) {
	synctest.Test(t, func(t *testing.T) {
		h := o.prepared(t)
		disk := simtest.NewDisk()
		for i, s := range shocks {
			a := h.Start("a", disk, h.setup.Run)
			s.hit(h.Deployment, a)
			time.Sleep(12 * time.Second)
			h.Mend()
			if i%2 == 0 { // every other case has an idle input
				h.taken += 2
				send(t, h.Deployment, h.setup, 0, 2)
			}
			a.Kill()
			disk = a.Disk()
		}
		last := h.Start("a", disk, h.setup.Run)
		send(t, h.Deployment, h.setup, 0, 3)
		h.taken += 3
		time.Sleep(12 * time.Second)
		if err := last.Stop(); err != nil {
			t.Error(err)
		}
		h.oneHistory(o)
		h.groupAt(0, h.taken)
	})
}

// oneHistory checks that every decision that is due is committed once, in order and in its own topic. A decision must
// never have had another value, even uncommitted, and all decisions must belong to one incarnation.
func (h *history) oneHistory(o opened) {
	h.t.Helper()
	blind := pipetest.Blind{Second: o.second, Owed: o.owed}
	var want [2][]uint64
	for step := range uint64(h.taken + 1) {
		index, count := blind.Due(step)
		for i := range count {
			output := i
			if step == 0 {
				output = 0
				if o.second > 0 && i == count-1 {
					output = 1
				}
			}
			want[output] = append(want[output], index+uint64(i))
		}
	}
	incarnations := map[[16]byte]bool{}
	for _, d := range h.committed(want) {
		if d.Step == 0 && d.Point[0] != 1 {
			h.t.Errorf("decision %d is of call %v of Open", d.Index, d.Point[0])
		}
		incarnations[d.Incarnation] = true
	}
	if len(incarnations) > 1 {
		h.t.Errorf("decisions of %d incarnations can be read", len(incarnations))
	}
}

// groupAt checks the group's offset in a partition.
func (h *history) groupAt(p int32, want int) {
	h.t.Helper()
	at, err := group.CommittedOffset(h.t.Context(), h.Client(), h.setup.Config.Group, h.setup.Config.Input, p)
	if err != nil || at != int64(want) {
		h.t.Errorf("partition %d: the group stands at %d, %v; want %d", p, at, err, want)
	}
}

// TestAnOpeningSurvivesDeathAtEachRequest checks that a deployment survives the death of its process at any request of
// an opening. For example, after a death between the first decisions and the first state, the partition must still be
// opened. Each request of an opening fails in each way, and so does another request after it. An operator that owes no
// decisions is opened in one transaction. In the short form only every third request fails, and ways to fail and
// openings alternate.
func TestAnOpeningSurvivesDeathAtEachRequest(t *testing.T) {
	all := tiertest.Runs(false, true) // every pair of requests takes minutes, so only the long form tries all
	shocks := []string{"died heard", "died", "cut", "lost"}
	for k, o := range []opened{{owed: 3}, {owed: 2, second: 2}, {owed: 0}} {
		first, last := o.requests(t)
		if last-first < 15 {
			t.Fatalf("an opening of %d requests", last-first)
		}
		for n := first; n <= last+1; n++ {
			for i, what := range shocks {
				if !all && ((n+k)%3 != 0 || i != (n/3+k)%len(shocks)) {
					continue
				}
				for m := first; m <= last+10; m++ {
					if !all && m != first+(11*n+7*i)%(last+10-first) {
						continue
					}
					again := shock{m, []string{"died", "died heard"}[(n+m+i)%2]}
					t.Run(fmt.Sprintf("%d owed/%s at %d, %s at %d", o.owed, what, n, again.what, again.request), func(t *testing.T) {
						o.survives(t, shock{n, what}, again)
					})
				}
			}
		}
	}
}

// TestAForgottenOpeningIsContinued checks an opening whose end was acknowledged, but never reached the changelog
// because the coordinator crashed. The next owner aborts such an opening, and the broker may then delete its records,
// so no decision that depends on them may be sent. The process dies at its next transaction, and later processes at a
// request of their take-over.
func TestAForgottenOpeningIsContinued(t *testing.T) {
	for k, o := range []opened{{owed: 3}, {owed: 2, second: 2}} {
		first, last := o.requests(t)
		for forgets := 1; forgets <= 2; forgets++ {
			for nth := 2; nth <= 4; nth++ {
				// In the short form, the different openings and numbers of commits test different requests.
				for n := first + nth + tiertest.Runs(28*k+14*(forgets-1), 0); n <= last; n += tiertest.Runs(56, 7) {
					t.Run(fmt.Sprintf("%d owed/%d forgotten, died at %d, at %d", o.owed, forgets, nth, n), func(t *testing.T) {
						o.forgotten(t, forgets, nth, n)
					})
				}
			}
		}
	}
}

// forgotten plays an opening in which forgets successive commits are acknowledged and then lost. The process dies after
// it has sent its nth transaction, and the next process at its n-th request.
func (o opened) forgotten(t *testing.T, forgets, nth, n int) {
	synctest.Test(t, func(t *testing.T) {
		h := o.prepared(t)
		end := simtest.Kind{API: "EndTxn", Partition: simtest.AnyPartition}
		for i := range forgets { // every second transaction belongs to an earlier owner
			h.Fail(simtest.Fault{Kind: end, Skip: 2*i + 1, Effect: simtest.Refused(0)})
		}
		a := h.Start("a", simtest.NewDisk(), h.setup.Run)
		a.KillAt(notice.PointProduced, nth)
		time.Sleep(30 * time.Second)
		h.Mend()
		a.Kill()
		b := h.Start("a", a.Disk(), h.setup.Run)
		b.KillAtRequest(n, n%4 < 2)
		time.Sleep(15 * time.Second)
		b.Kill()
		c := h.Start("a", b.Disk(), h.setup.Run)
		send(t, h.Deployment, h.setup, 0, 2)
		h.taken = 2
		time.Sleep(12 * time.Second)
		if err := c.Stop(); err != nil {
			t.Error(err)
		}
		h.oneHistory(o)
		h.groupAt(0, h.taken)
	})
}

// TestTornOpeningsAreMadeWhole plays each way in which the first two transactions may have ended in some parts and not
// in others, and two such failures in a row. In the short form each way is tried with one of the two transactions. Of
// two failures in a row, half of the ways are tried as the first, and half as the second.
func TestTornOpeningsAreMadeWhole(t *testing.T) {
	o := opened{owed: 2, second: 2}
	for nth := 1; nth <= 2; nth++ {
		parts := o.setup().Parts()
		for bits := range 1 << len(parts) {
			again := (5*bits + bits/4 + 1) % (1 << len(parts))
			if tiertest.Runs(true, false) {
				if again = bits ^ 1; bits%4 != 3*(nth%2) {
					continue // another case of the short form covers it
				}
			}
			t.Run(fmt.Sprintf("%d/%v %v", nth, subset(parts, bits), subset(parts, again)), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := o.prepared(t)
					disk := h.torn(simtest.NewDisk(), nth, subset(parts, bits))
					disk = h.torn(disk, nth, subset(parts, again))
					send(t, h.Deployment, h.setup, 0, 4)
					h.taken = 4
					last := h.Start("a", disk, h.setup.Run)
					time.Sleep(12 * time.Second)
					if err := last.Stop(); err != nil {
						t.Error(err)
					}
					h.oneHistory(o)
					h.groupAt(0, h.taken)
				})
			})
		}
	}
}

// torn runs a process until the records of its n-th transaction are acknowledged, and then commits some parts of it. If
// the process has no such transaction to send, it keeps running on an idle input.
func (h *history) torn(disk *vfs.MemFS, nth int, committed []pipetest.Part) *vfs.MemFS {
	h.t.Helper()
	torn, err := h.setup.Tear(h.t.Context(), h.Client(), 0)
	if err != nil {
		h.t.Fatal(err)
	}
	a := h.Start("a", disk, h.setup.Run)
	a.KillAt(notice.PointProduced, nth)
	time.Sleep(10 * time.Second)
	if !a.Alive() {
		err = torn.Commit(h.t.Context(), committed, pipetest.Whatever)
	}
	if err != nil {
		h.t.Fatal(err)
	}
	a.Kill()
	return a.Disk()
}

// TestTheSecretIsDurableBeforeTheFirstDecision checks the transactions of an opening. The first contains the state and
// no decision, and the second begins only after the first is committed. Both name the same partitions. If no decision
// is owed, there is only one transaction.
func TestTheSecretIsDurableBeforeTheFirstDecision(t *testing.T) {
	const begin = "AddPartitionsToTxn late.changelog,late.decisions,late.plays,late.verdicts"
	for owed, second := range map[int][]string{
		0: nil, 1: {begin, "Produce late.plays", "Produce late.changelog", "EndTxn "},
		3: {begin, "Produce late.decisions", "Produce late.plays", "Produce late.changelog", "EndTxn "},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := opened{owed: owed, second: 2}.prepared(t)
			a := h.Start("a", simtest.NewDisk(), h.setup.Run)
			time.Sleep(2 * time.Second)
			var got []string
			for _, r := range h.Requests() {
				switch r.API {
				case "Produce", "AddPartitionsToTxn", "EndTxn":
					got = append(got, r.API+" "+r.Topic)
				}
			}
			want := append([]string{
				begin, "EndTxn ", // an earlier owner's transaction may end first
				begin, "Produce late.changelog", "EndTxn ",
			}, second...)
			if !slices.Equal(got, want) {
				t.Errorf("%d owed: %q, want %q", owed, got, want)
			}
			if err := a.Stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestForgedFirstDecisionsStop checks that a stream stops if a committed decision does not follow from the opening's
// secret, because that is a second history. No further record may be sent.
func TestForgedFirstDecisionsStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := opened{owed: 3}.prepared(t)
		torn, err := h.setup.Tear(t.Context(), h.Client(), 0)
		if err != nil {
			t.Fatal(err)
		}
		a := h.Start("a", simtest.NewDisk(), h.setup.Run)
		a.KillAt(notice.PointProduced, 2)
		<-a.Done()
		if err := torn.Commit(t.Context(), []pipetest.Part{pipetest.Decisions},
			func(_ pipetest.Part, r records.Record) []byte {
				if index(t, r) == 2 {
					return bytes.Replace(r.Value, []byte(`"decision":[1,`), []byte(`"decision":[2,`), 1)
				}
				return nil
			}); err != nil {
			t.Fatal(err)
		}
		before := len(h.read(h.setup.Config.Decisions, true))
		send(t, h.Deployment, h.setup, 0, 2)
		b := h.Start("b", a.Disk(), h.setup.Run)
		time.Sleep(20 * time.Second)
		if err := b.Stop(); err == nil || !strings.Contains(err.Error(), "decision 2, of before the first event, differs") {
			t.Errorf("ends with %v", err)
		}
		if after := len(h.read(h.setup.Config.Decisions, true)); after != before {
			t.Errorf("%d decisions were sent", after-before)
		}
	})
}

// TestACheckpointBetweenOpeningAndFirstDecisions checks that a replay recomputes the first decisions if its checkpoint
// is a state that owes them.
func TestACheckpointBetweenOpeningAndFirstDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := opened{owed: 3, second: 2}
		h := o.prepared(t)
		a := h.Start("a", simtest.NewDisk(), h.setup.Run)
		h.Fail(simtest.Fault{
			Kind:   simtest.Kind{API: "Produce", Topic: h.setup.Config.Decisions, Partition: 0},
			Effect: simtest.Cut, Count: -1,
		})
		time.Sleep(5 * time.Second)
		if n := len(h.read(h.setup.Config.Decisions, true)); n != 0 {
			t.Fatalf("%d decisions", n)
		}
		a.Kill() // its second transaction stays open
		checkpoint, err := replay.Checkpoint(t.Context(), h.deployment(), 0)
		if err != nil {
			t.Fatal(err)
		}
		h.Mend()
		b := h.Start("b", simtest.NewDisk(), h.setup.Run)
		send(t, h.Deployment, h.setup, 0, 4)
		h.taken = 4
		time.Sleep(15 * time.Second)
		if err := b.Stop(); err != nil {
			t.Error(err)
		}
		h.oneHistory(o)
		h.groupAt(0, h.taken)
		if n, err := replay.Check(t.Context(), h.deployment(), 0, checkpoint, func(int) {}); err != nil || n != 3+4+2 {
			t.Errorf("%d decisions recomputed: %v; want 3 and 6", n, err)
		}
	})
}

// TestFirstDecisionsUnderOtherSemantics checks an upgrade between the opening and the first decisions. If some of them
// can be read, a version with other semantics must not recompute them, because it may get other values. If none of them
// can be read, it may recompute them.
func TestFirstDecisionsUnderOtherSemantics(t *testing.T) {
	for topic, stops := range map[string]bool{"late.decisions": false, "late.changelog": true} {
		t.Run(topic, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := opened{owed: 3}
				h := o.prepared(t)
				h.Fail(simtest.Fault{ // delays the second transaction
					Kind:   simtest.Kind{API: "Produce", Topic: topic, Partition: 0},
					Effect: simtest.Cut, Count: -1, Skip: map[bool]int{true: 1}[stops],
				})
				a := h.Start("a", simtest.NewDisk(), h.setup.Run)
				time.Sleep(5 * time.Second)
				a.Kill()
				h.Mend()
				later := h.setup
				later.Model.Semantics++
				b := h.Start("b", simtest.NewDisk(), later.Run)
				time.Sleep(20 * time.Second)
				sent, committed := len(h.read("late.decisions", true)), len(h.read("late.decisions", false))
				stopped := false
				select {
				case <-b.Done():
					stopped = true
				default:
				}
				if want := map[bool]int{false: 3}[stops]; stopped != stops || sent != 3 || committed != want {
					t.Errorf("stopped: %t, %d decisions sent, %d committed; want %t, 3, %d", stopped, sent, committed, stops, want)
				}
				if err := b.Stop(); (err != nil) != stops {
					t.Error(err)
				}
			})
		})
	}
}
