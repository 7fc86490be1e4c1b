package pipetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/schemas/decision"
)

// seen returns what readers see of the topic of decisions: its batches, and the offset and step of each decision.
func (b *byClock) seen() []string {
	b.t.Helper()
	all := b.batches()
	for _, r := range b.read(b.setup.Config.Decisions, true) {
		d, err := decision.Parse(r.Value)
		b.check(err)
		all = append(all, fmt.Sprintf("%d: step %d at %d", r.Offset, d.Step, r.Timestamp))
	}
	return all
}

// killed runs a process that is killed at a time, and another one after it. It returns what readers see, and whether a
// transaction was open at the kill.
func killed(t *testing.T, at time.Duration, records int) (all []string, open bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newByClock(t, 30, "LogAppendTime", nil)
		a := b.Start("a", simtest.NewDisk(), b.setup.Run)
		time.Sleep(46 * time.Second)
		if records > 0 {
			b.put(0, records)
		}
		time.Sleep(at - 46*time.Second)
		a.Kill()
		for _, r := range b.Requests() {
			switch {
			case r.API == "AddPartitionsToTxn":
				open = true
			case r.API == "EndTxn" && r.Outcome == "ok":
				open = false
			}
		}
		c := b.Start("b", a.Disk(), b.setup.Run)
		time.Sleep(65 * time.Second)
		b.check(c.Stop())
		all = b.seen()
	})
	return all, open
}

// TestAKillShowsNoRecord kills a process at many moments of a second, with records in its input and without. The topic
// of decisions must be the same, epochs of the producer included, also if a transaction was open.
func TestAKillShowsNoRecord(t *testing.T) {
	var want []string
	opened := 0
	for d := range 20 {
		if tiertest.Runs(d%3 != 0, false) {
			continue
		}
		for _, records := range []int{0, 1, 40} {
			at := 49*time.Second + 100*time.Millisecond + time.Duration(d)*time.Millisecond
			got, open := killed(t, at, records)
			if open {
				opened++
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) || len(got) < 8 {
				t.Errorf("killed at %v with %d records: %s", at, records, simtest.Difference(want, got))
			}
		}
	}
	if opened < 2 {
		t.Errorf("a transaction was open at %d kills", opened)
	}
}

// TestAFailedSavingShowsNoRecord lets the coordinator answer so late that no transaction which saves can end, with a
// record in the input and without. What readers see must not tell the two apart.
func TestAFailedSavingShowsNoRecord(t *testing.T) {
	run := func(records int) (all []string) {
		synctest.Test(t, func(t *testing.T) {
			b := newByClock(t, 120, "LogAppendTime", nil)
			a := b.Start("a", simtest.NewDisk(), b.setup.Run)
			time.Sleep(130 * time.Second)
			b.Fail(simtest.Fault{
				Kind: simtest.Kind{API: "EndTxn", Member: "a", Partition: simtest.AnyPartition}, Count: -1,
				Effect: simtest.Late(100 * time.Second),
			})
			if records > 0 {
				b.put(0, records)
			}
			time.Sleep(80 * time.Second)
			b.Mend()
			time.Sleep(160 * time.Second)
			b.check(a.Stop())
			all = b.seen()
		})
		return all
	}
	want, got := run(0), run(1)
	if !slices.Equal(got, want) || len(got) < 8 {
		t.Error(simtest.Difference(want, got))
	}
}

// TestAPersonIsPresentOrAbsent runs a service over inputs that differ in all records of one person, and in their
// absence. What readers see must be equal but for the numbers, and no step counts more persons without that person. In
// each period the numbers of all steps together fall by at most the number of cells in which a person counts.
func TestAPersonIsPresentOrAbsent(t *testing.T) {
	run := func(absent int) (seen []string, persons []float64) {
		synctest.Test(t, func(t *testing.T) {
			b := newByClock(t, 3, "LogAppendTime", limitPersons)
			a := b.Start("a", simtest.NewDisk(), b.setup.Run)
			time.Sleep(5 * time.Second)
			for i := range 90 {
				person, cell := (i*i+i/7)%5, i*7%4
				r := records.Record{Key: fmt.Append(nil, "person ", person), Value: fmt.Appendf(nil, `{"cost":[%d,0,0,0]}`, cell)}
				if person != absent {
					b.check(logtest.Send(t.Context(), b.Client(), b.setup.Config.Input, int32(i%2), r))
				}
				time.Sleep(210 * time.Millisecond)
			}
			time.Sleep(10 * time.Second)
			b.check(a.Stop())
			seen = b.seen()
			for _, r := range b.read(b.setup.Config.Decisions, false) {
				d, err := decision.Parse(r.Value)
				b.check(err)
				period := b.setup.Model.Users.Period.Of(b.clock.Begin(d.Step))
				for uint64(len(persons)) <= period-b.setup.Model.Users.Period.Of(b.start.Unix()) {
					persons = append(persons, 0)
				}
				persons[len(persons)-1] += d.Point[0]
			}
		})
		return seen, persons
	}
	all, with := run(-1)
	largest := 0.0
	for absent := range 5 {
		got, without := run(absent)
		if !slices.Equal(got, all) || len(got) < 10 {
			t.Errorf("without person %d: %s", absent, simtest.Difference(all, got))
		}
		for period := range with {
			fewer := with[period] - without[period]
			if largest = max(largest, fewer); fewer < 0 || fewer > 2 {
				t.Errorf("without person %d, period %d: %g persons, and %g with", absent, period, without[period], with[period])
			}
		}
	}
	if largest != 2 {
		t.Errorf("a person counts in at most %g cells", largest)
	}
}

// TestAnOpenTransactionMovesNoRecord opens a stream while a producer has a transaction open. Whether it has a record
// must not change which records of others are in the first step.
func TestAnOpenTransactionMovesNoRecord(t *testing.T) {
	for _, kind := range []string{"CreateTime", "LogAppendTime"} {
		run := func(one bool) (first string) {
			synctest.Test(t, func(t *testing.T) {
				b := newByClock(t, 10, kind, nil)
				var p *produce.Producer
				if one {
					var err error
					p, err = produce.New(t.Context(), b.Client(), "stranger", time.Minute)
					b.check(err)
					b.check(p.Begin(t.Context(), []kafka.TopicPartition{{Topic: b.setup.Config.Input, Partition: 0}}))
					var r records.Pack
					r.Append(nil, []byte(`{"cost":[1,0,0,0]}`), nil, time.Now().UnixMilli())
					_, err = p.ProduceAll(t.Context(), b.setup.Config.Input, 0, &r)
					b.check(err)
				}
				for range 10 {
					b.put(0, 20)
					time.Sleep(time.Second)
				}
				a := b.Start("a", simtest.NewDisk(), b.setup.Run)
				time.Sleep(5 * time.Second)
				if one {
					b.check(p.End(t.Context(), true))
				}
				time.Sleep(30 * time.Second)
				b.check(a.Stop())
				all := b.published()
				if len(all) < 2 {
					t.Fatal("no decision")
				}
				_, first, _ = strings.Cut(all[0], ": ")
			})
			return first
		}
		if want, got := run(false), run(true); got != want {
			t.Errorf("%s: the first step has %s, and with a transaction open %s", kind, want, got)
		}
	}
}
