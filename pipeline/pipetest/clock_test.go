package pipetest_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/replay"
	"oriel/schemas/decision"
)

// TestAServiceByTheClock runs a service over topics with both kinds of times. Each step must have exactly one decision,
// also the empty ones, made of the events in its slots, and handed over a fixed delay after its end. Between decisions
// the service saves, without a mark in the topic of decisions.
func TestAServiceByTheClock(t *testing.T) {
	for _, timestamps := range []string{"CreateTime", "LogAppendTime"} {
		for _, length := range []int64{1, 6} {
			t.Run(fmt.Sprintf("%s/%d", timestamps, length), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					b := newByClock(t, length, timestamps, nil)
					a := b.Start("a", simtest.NewDisk(), b.setup.Run)
					time.Sleep(2500 * time.Millisecond)
					b.life(rand.New(rand.NewPCG(uint64(length), 9)), 40)
					b.settles()
					checkpoint := b.checkpoint()
					b.put(1, 1)
					got := b.settles()
					b.check(a.Stop())
					events, empty := 0, 0
					for _, line := range got {
						var k, at, n int
						_, _ = fmt.Sscanf(line, "step %d at %d: %d events", &k, &at, &n)
						if events += n; n == 0 {
							empty++
						}
					}
					if want := b.seq - b.seq/7; events != want || empty < 2 {
						t.Errorf("%d events in all steps, want %d; %d steps are empty", events, want, empty)
					}
					b.marks(len(got))
					if n, err := replay.Check(t.Context(), b.deployment(), 0, checkpoint, func(int) {}); err != nil || n < 5 {
						t.Errorf("%d decisions recomputed, %v", n, err)
					}
				})
			})
		}
	}
}

// batches returns the record batches of the topic of decisions.
func (b *byClock) batches() (all []string) {
	b.t.Helper()
	conn, err := b.Dial(b.t.Context(), "", b.Addr())
	b.check(err)
	defer func() { _ = conn.Close() }()
	batches, err := logtest.Batches(conn, b.setup.Config.Decisions)
	b.check(err)
	for _, h := range batches {
		all = append(all, logtest.BatchLine(h))
	}
	return all
}

// marks checks the topic of decisions as its readers see it: behind the marker of the take-over, a decision and the
// marker of its transaction for each step, of one producer epoch, and nothing of the transactions that saved. Requests
// for decisions must come exactly when they are due.
func (b *byClock) marks(decided int) {
	b.t.Helper()
	const decision, marker = "%d to %d, attributes 10, leader epoch 0, producer epoch %d, sequence %d",
		"%d to %d, attributes 30, leader epoch 0, producer epoch %d, sequence -1"
	for i, is := range b.batches() {
		want := fmt.Sprintf(marker, i, i+1, min(4+i, 5)) // ending what earlier owners left takes an epoch of its own
		if i%2 == 1 {
			want = fmt.Sprintf(decision, i, i+1, 5, i/2)
		}
		if is != want || i > 2*decided {
			b.t.Errorf("batch %d: %s, want %s", i, is, want)
		}
	}
	saved := 0
	for _, r := range b.Requests() {
		switch {
		case r.API == "EndTxn":
			saved++
		case r.API == "Produce" && r.Topic == b.setup.Config.Decisions:
			since := b.start.Add(r.At).Sub(time.Unix(b.clock.Offset, 0)) - stepDelay
			if since%(time.Duration(b.clock.Length)*time.Second) > 60*time.Millisecond {
				b.t.Errorf("a decision is sent at %v", r)
			}
		}
	}
	if saved -= decided; saved < 5 && b.clock.Length > 1 {
		b.t.Errorf("%d transactions save", saved)
	}
}

// TestKillsOfAServiceByTheClock kills a process before and after each request of some seconds, in which it takes
// events, saves, ends a step with events and ends an empty step. Another process must publish the same decisions.
func TestKillsOfAServiceByTheClock(t *testing.T) {
	for n := 1; n < 400; n++ {
		if tiertest.Runs(n%23 != 1, false) {
			continue
		}
		died := false
		synctest.Test(t, func(t *testing.T) {
			users := []func(*pipetest.Setup){limitUsers, nil, limitPersons}[n/4%3]
			b := newByClock(t, 4, []string{"CreateTime", "LogAppendTime"}[n%2], users)
			a := b.Start("a", simtest.NewDisk(), b.setup.Run)
			time.Sleep(6 * time.Second)
			a.KillAtRequest(n, n/2%2 == 0)
			for i := range 16 {
				if i < 6 || i > 13 { // between, a step is empty
					b.put(int32(i%3), 1+i%4)
				}
				time.Sleep(900 * time.Millisecond)
			}
			if died = !a.Alive(); died {
				b.Start("b", a.Disk(), b.setup.Run)
			}
			b.settles()
		})
		if !died || t.Failed() {
			t.Logf("%d requests", n)
			return
		}
	}
}

// orders is the process of `oriel order`.
func (b *byClock) orders(ctx context.Context, m *simtest.Member) error {
	config := kafka.Config{Brokers: []string{m.Broker()}}
	m.Network(&config)
	client, err := kafka.New(config)
	if err != nil {
		return err
	}
	defer func() { _ = client.Close() }()
	d, err := b.setup.Deployment(ctx, client)
	if err != nil {
		return err
	}
	return pipeline.OrderWriter{
		Deployment: d, Note: func(string) {}, Retried: func(error) {}, Appended: func(int, int64) {},
	}.Run(ctx)
}

// TestSequencersByTheClock lets two processes write the order of a stream, of which one is late by some seconds: its
// records close nothing, and their entries count for nobody. Then the other one dies.
func TestSequencersByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newByClock(t, 2, "LogAppendTime", func(s *pipetest.Setup) { s.Config.OtherSequencer = true })
		b.Start("a", simtest.NewDisk(), b.setup.Run)
		first := b.Start("first", simtest.NewDisk(), b.orders)
		late := simtest.Fault{
			Kind: simtest.Kind{Member: "late", API: "Produce", Partition: simtest.AnyPartition}, Count: 6,
			Effect: simtest.Late(3700 * time.Millisecond),
		}
		b.Fail(late)
		b.Start("late", simtest.NewDisk(), b.orders)
		time.Sleep(2500 * time.Millisecond)
		b.life(rand.New(rand.NewPCG(7, 7)), 25)
		first.Kill()
		b.life(rand.New(rand.NewPCG(8, 8)), 25)
		if got := b.settles(); len(got) < 25 || b.Effects()["late"] == 0 {
			t.Errorf("%d decisions, %v", len(got), b.Effects())
		}
	})
}

// TestAnOutageByTheClock ends the only process for many steps, while records arrive. The next process publishes all
// decisions at once.
func TestAnOutageByTheClock(t *testing.T) {
	for _, timestamps := range []string{"CreateTime", "LogAppendTime"} {
		t.Run(timestamps, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				limit := map[string]func(*pipetest.Setup){"CreateTime": limitUsers, "LogAppendTime": limitPersons}
				b := newByClock(t, 1, timestamps, limit[timestamps])
				a := b.Start("a", simtest.NewDisk(), b.setup.Run)
				time.Sleep(5 * time.Second)
				b.life(rand.New(rand.NewPCG(3, 3)), 5)
				b.check(a.Stop())
				b.life(rand.New(rand.NewPCG(4, 4)), 200)
				began := time.Now()
				b.Start("b", simtest.NewDisk(), b.setup.Run)
				b.Start("c", simtest.NewDisk(), b.setup.Run)
				time.Sleep(20 * time.Second)
				if n := len(b.published()); n < int(began.Sub(b.start)/time.Second) {
					t.Errorf("%d decisions soon after an outage of 200 s", n)
				}
				b.settles()
			})
		})
	}
}

// TestALongOutageByTheClock ends the only process for more than a day. The next one must refuse, and name the flag with
// which another one goes on.
func TestALongOutageByTheClock(t *testing.T) {
	tiertest.Slow(t, "TestAnOutageByTheClock") // two days of a simulated broker
	synctest.Test(t, func(t *testing.T) {
		var reason string
		b := newByClock(t, 600, "LogAppendTime", func(s *pipetest.Setup) {
			s.Listener.Stopped = func(_ int32, err error) { reason = err.Error() }
		})
		run := func(name string, after time.Duration) {
			time.Sleep(after)
			m := b.Start(name, simtest.NewDisk(), b.setup.Run)
			time.Sleep(time.Minute)
			_ = m.Stop()
		}
		run("a", 0)
		run("b", 23*time.Hour)
		if b.put(1, 2); reason != "" {
			t.Error(reason)
		}
		if run("c", 25*time.Hour); !strings.Contains(reason, "oriel run --catch-up") {
			t.Errorf("after a day: %q", reason)
		}
		before := len(b.published())
		b.setup.Config.CatchUp = true
		if run("d", 0); len(b.published()) < before+144 {
			t.Errorf("%d decisions, and %d before catching up", len(b.published()), before)
		}
	})
}

// TestTheFirstStepByTheClock opens streams over logs that have records already: with a time, the first step begins
// there, whatever the first record is, and earlier records are in no step.
func TestTheFirstStepByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now().Add(25 * time.Second)
		b := newByClock(t, 10, "LogAppendTime", func(s *pipetest.Setup) { s.Config.Begin = begin })
		b.life(rand.New(rand.NewPCG(5, 5)), 60)
		b.Start("a", simtest.NewDisk(), b.setup.Run)
		b.life(rand.New(rand.NewPCG(6, 6)), 20)
		got := b.settles()
		var k uint64
		if len(got) > 0 {
			_, _ = fmt.Sscanf(got[0], "step %d", &k)
		}
		if k != b.clock.Of(begin.Unix()) {
			t.Errorf("the first decision is %q", got[0])
		}
	})
}

// TestACreatedInputHasTheBrokersTimes checks that an input topic that Oriel makes for steps by the clock has the times
// of brokers, and one for steps by count Kafka's default.
func TestACreatedInputHasTheBrokersTimes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newByClock(t, 10, "LogAppendTime", nil)
		for delay, want := range map[time.Duration]string{stepDelay: "LogAppendTime", 0: "CreateTime"} {
			c := b.setup.Config
			c.Input, c.StepDelay = fmt.Sprintf("input.%d", delay), delay
			c.Changelog = c.Input + ".changelog"
			b.check(deployment.CreateInput(t.Context(), b.Client(), c, 2, func(string) {}))
			settings, err := topics.Settings(t.Context(), b.Client(), c.Input)
			b.check(err)
			if got := settings["message.timestamp.type"]; got != want {
				t.Errorf("delay %v: times of the type %s, want %s", delay, got, want)
			}
		}
	})
}

// TestNeighboursByTheClock runs pairs of inputs that differ in one record: the topic of decisions must be equal but for
// the numbers of events, in offsets, timestamps, markers and times of requests. One kind of input has users in periods.
func TestNeighboursByTheClock(t *testing.T) {
	run := func(skip int, kind string) (all []string) {
		synctest.Test(t, func(t *testing.T) {
			b := newByClock(t, 3, kind, map[string]func(*pipetest.Setup){"LogAppendTime": limitUsers}[kind])
			a := b.Start("a", simtest.NewDisk(), b.setup.Run)
			time.Sleep(5 * time.Second)
			for i := range 30 {
				if i%11 < 8 && i != skip {
					b.put(int32(i%2), 1)
				}
				time.Sleep(630 * time.Millisecond)
			}
			time.Sleep(10 * time.Second)
			b.check(a.Stop())
			all = b.batches()
			for _, r := range b.read(b.setup.Config.Decisions, true) {
				d, err := decision.Parse(r.Value)
				b.check(err)
				all = append(all, fmt.Sprintf("%d: step %d at %d, %d", r.Offset, d.Step, d.Time(), r.Timestamp))
			}
			for _, r := range b.Requests() {
				if r.Topic == b.setup.Config.Decisions && r.API == "Produce" {
					all = append(all, fmt.Sprintf("%v: %s %s", r.At, r.API, r.Outcome))
				}
			}
		})
		return all
	}
	for _, kind := range []string{"CreateTime", "LogAppendTime"} {
		want := run(-1, kind)
		for _, skip := range []int{0, 1, 5, 13, 29} {
			if got := run(skip, kind); !slices.Equal(got, want) || len(got) < 10 {
				t.Errorf("%s, without record %d:\n got %q\nwant %q", kind, skip, got, want)
			}
		}
	}
}
