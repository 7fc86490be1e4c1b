package pipetest_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/changelog"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/replay"
	"oriel/schemas/decision"
	"oriel/state"
)

// history is a deployment of one partition whose transactions are torn repeatedly.
type history struct {
	*simtest.Deployment
	t     *testing.T
	setup pipetest.Setup
	every uint64 // steps per decision of the second topic
	taken int
}

// tear runs a process until all records of a transaction over n events are acknowledged, and commits some of its parts.
func (h *history) tear(name string, n int, committed []pipetest.Part) {
	h.t.Helper()
	a := h.Start(name, simtest.NewDisk(), h.setup.Run)
	time.Sleep(10 * time.Second) // time to repair the transaction
	torn, err := h.setup.Tear(h.t.Context(), h.Client(), 0)
	if err != nil {
		h.t.Fatal(err)
	}
	a.KillAt(notice.PointProduced, 1)
	send(h.t, h.Deployment, h.setup, 0, n)
	h.taken += n
	<-a.Done()
	if err := torn.Commit(h.t.Context(), committed, pipetest.Whatever); err != nil {
		h.t.Fatal(err)
	}
}

// whole checks the committed records. Each decision that is due must occur once, in order, in its own topic and with
// the bytes of a replay, and must have no other value, even uncommitted. Each offset must have one status, and the
// group's offset must be at the end.
func (h *history) whole(checkpoint []byte) {
	h.t.Helper()
	blind := pipetest.Blind{Second: h.every}
	var want [2][]uint64
	for step := range uint64(h.taken) {
		index, count := blind.Due(step + 1)
		for i := range count {
			want[i] = append(want[i], index+uint64(i))
		}
	}
	h.committed(want)
	next := int64(0)
	for _, r := range h.read(h.setup.Config.Verdicts, false) {
		row, err := state.PublicRow(r.Value)
		if err != nil || row.From.Next != next {
			h.t.Errorf("verdicts from %v to %v follow those up to %d: %v", row.From, row.To, next, err)
		}
		next = row.To.Next
	}
	group, err := group.CommittedOffset(h.t.Context(), h.Client(), h.setup.Config.Group, h.setup.Config.Input, 0)
	if err != nil || next != int64(h.taken) || group != int64(h.taken) {
		h.t.Errorf("verdicts up to %d, the group at %d, %v; want %d", next, group, err, h.taken)
	}
	if n, err := replay.Check(h.t.Context(), h.deployment(), 0, checkpoint, func(int) {}); err != nil ||
		n != len(want[0])+len(want[1]) {
		h.t.Errorf("%d decisions recomputed: %v; want %d and %d", n, err, len(want[0]), len(want[1]))
	}
}

// committed checks that the decision topics have the decisions of want, by index, and that no decision has two values,
// even uncommitted ones. It returns all decisions of both topics.
func (h *history) committed(want [2][]uint64) (all []decision.Decision) {
	h.t.Helper()
	values := map[uint64][]byte{}
	for output, topic := range []string{h.setup.Config.Decisions, h.setup.Config.Second} {
		if topic == "" {
			continue
		}
		var got []uint64
		for _, r := range h.read(topic, false) {
			got = append(got, index(h.t, r))
		}
		if !slices.Equal(got, want[output]) {
			h.t.Errorf("topic %s has the decisions %d, want %d", topic, got, want[output])
		}
		for _, r := range h.read(topic, true) {
			d := decisionIn(h.t, r)
			if other := values[d.Index]; other != nil && !bytes.Equal(other, r.Value) {
				h.t.Errorf("decision %d has two values:\n%s\n%s", d.Index, other, r.Value)
			}
			values[d.Index] = r.Value
			all = append(all, d)
		}
	}
	return all
}

func index(t *testing.T, r records.Record) uint64 {
	t.Helper()
	return decisionIn(t, r).Index
}

func decisionIn(t *testing.T, r records.Record) decision.Decision {
	t.Helper()
	d, err := decision.Parse(r.Value)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func (h *history) read(topic string, uncommitted bool) []records.Record {
	h.t.Helper()
	records, err := logtest.Read(h.t.Context(), h.Client(), topic, 0, -1, fetch.Options{Uncommitted: uncommitted})
	if err != nil {
		h.t.Fatal(err)
	}
	return records
}

func (h *history) deployment() changelog.Deployment {
	h.t.Helper()
	d, err := h.setup.Deployment(h.t.Context(), h.Client())
	if err != nil {
		h.t.Fatal(err)
	}
	return d
}

// subset returns the parts whose bits are set in a number.
func subset(parts []pipetest.Part, bits int) (some []pipetest.Part) {
	for i, p := range parts {
		if bits>>i&1 != 0 {
			some = append(some, p)
		}
	}
	return some
}

// TestTornTransactionsAreMadeWhole plays each way in which a transaction may have ended in some of its parts and not in
// others, each followed by another way. If a second topic has few decisions, a transaction without any for that topic
// must not count as one that lost some.
func TestTornTransactionsAreMadeWhole(t *testing.T) {
	for row, every := range []uint64{0, 1, 7, 1000} {
		setup := pipetest.NewSetup()
		if every > 0 {
			setup = setup.SecondTopic(every)
		}
		parts := setup.Parts()
		for bits := range 1 << len(parts) {
			again := (5*bits + bits/4 + 1) % (1 << len(parts))
			if tiertest.Runs(true, false) {
				meets := bits / 2 % 4
				if bits >= 16 {
					meets = 1 + bits/2%3
				}
				// The short form tries each way in only one row: half of the ways first, and the other half as the second.
				if again = bits ^ 1; row != meets || bits%2 != bits/4%2 {
					continue
				}
			}
			t.Run(fmt.Sprintf("every %d/%v %v", every, subset(parts, bits), subset(parts, again)), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					h := &history{t: t, Deployment: simtest.New(t), setup: setup, every: every}
					if err := setup.Prepare(t.Context(), h.Client(), 1); err != nil {
						t.Fatal(err)
					}
					a := h.Start("a", simtest.NewDisk(), setup.Run)
					time.Sleep(2 * time.Second)
					checkpoint, err := replay.Checkpoint(t.Context(), h.deployment(), 0)
					if err != nil {
						t.Fatal(err)
					}
					h.taken = 20
					send(t, h.Deployment, setup, 0, h.taken)
					time.Sleep(2 * time.Second)
					if err := a.Stop(); err != nil {
						t.Fatal(err)
					}
					h.tear("b", 17, subset(parts, bits))
					h.tear("c", 13, subset(parts, again))
					last := h.Start("d", simtest.NewDisk(), setup.Run)
					time.Sleep(10 * time.Second)
					if err := last.Stop(); err != nil {
						t.Error(err)
					}
					h.whole(checkpoint)
				})
			})
		}
	}
}
