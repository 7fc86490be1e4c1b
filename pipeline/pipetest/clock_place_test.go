package pipetest_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/produce"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
)

// TestGroupsSetByHandByTheClock sets the group's offsets of a stream by the clock by hand. A take-over and an
// examination must refuse places that no transaction has left, even if only a slot differs. Offsets set back as the
// message says have no slot, and then the stream must go on.
func TestGroupsSetByHandByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := newClocked(t, "CreateTime", false)
		is, err := c.deployment().Ordered(t.Context())
		c.check(err)
		set := func(note string, less int64) {
			t.Helper()
			producer, err := produce.New(t.Context(), c.Client(), "by hand", time.Minute)
			c.check(err)
			c.check(producer.Begin(t.Context(), []kafka.TopicPartition{{Topic: c.setup.Config.Changelog}}))
			var offsets []group.Offset
			for _, part := range is.At.Parts {
				offsets = append(offsets, group.Offset{Partition: part.Partition, Offset: part.Next - less, Note: note})
			}
			of := group.Membership{Group: c.setup.Config.Group, Generation: -1}
			c.check(producer.CommitOffsets(t.Context(), of, c.setup.Config.Input, offsets))
			c.check(producer.End(t.Context(), true))
		}
		stands := func(slot int64) string { return time.Unix(slot, 0).UTC().Format(time.RFC3339) }
		for name, by := range map[string]struct {
			note string
			less int64
			want string
		}{
			"ahead by a step": {
				fmt.Sprint(is.At.Slot + 20), 0,
				fmt.Sprintf("the group stands at offset 21 at %s, the state at offset 21 at %s", stands(is.At.Slot+20), stands(is.At.Slot)),
			},
			"back by records": {"", 2, "the group stands at 5, the state at 7 in partition 0 of the input"},
			"back by records, with a slot": {
				fmt.Sprint(is.At.Slot - 1), 2, "the group stands at 5, the state at 7 in partition 0 of the input",
			},
		} {
			set(by.note, by.less)
			for says, err := range map[string]error{
				"an examination": c.setup.Examine(t.Context(), c.Client(), simtest.NewDisk()),
				"a process":      c.Start("a process after "+name, simtest.NewDisk(), c.setup.Run).Wait(),
			} {
				if err == nil || !strings.Contains(err.Error(), by.want) || !strings.Contains(err.Error(), "--to-offset 7") {
					t.Errorf("%s: %s says %v, want %q", name, says, err, by.want)
				}
			}
		}
		set("", 0)
		c.check(c.setup.Examine(t.Context(), c.Client(), simtest.NewDisk()))
		a := c.Start("a", simtest.NewDisk(), c.setup.Run)
		c.until(c.step() + 10)
		c.check(a.Stop())
		c.check(c.setup.Examine(t.Context(), c.Client(), simtest.NewDisk()))
	})
}

// TestAStreamByTheClockEnds ends a stream by the clock. Rows of steps without records must not count as offsets. A
// decision that was sent and not committed must, even if its step has no record.
func TestAStreamByTheClockEnds(t *testing.T) {
	for _, torn := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := newClocked(t, "CreateTime", false)
			a := c.Start("a", simtest.NewDisk(), c.setup.Run)
			c.until(c.step() + 8)
			if torn {
				c.lastSecond(0)
				a.KillAt(notice.PointProduced, 1)
				<-a.Done()
			} else {
				c.check(a.Stop())
			}
			got, err := end(t.Context(), c.Client(), c.setup, false)
			if torn {
				if err == nil || !strings.Contains(err.Error(), "do not cover every decision that was sent") {
					t.Errorf("a decision that was sent and not committed: %v, %v", got, err)
				}
				got, err = end(t.Context(), c.Client(), c.setup, true)
			}
			c.check(err)
			if want := (deployment.Offsets{0: 7, 1: 7, 2: 7}); !maps.Equal(got, want) {
				t.Errorf("the stream ends at %v, want %v", got, want)
			}
		})
	}
}

// TestAStoreAheadByAnEmptyStep gives a process a local store that is ahead of the changelog by one step without
// records, as if the step's transaction had been acknowledged. If its records are in the topics, aborted, the stream
// goes on. If they are lost, the brokers have lost acknowledged records, and the stream must stop.
func TestAStoreAheadByAnEmptyStep(t *testing.T) {
	for _, lost := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			c, _ := newClocked(t, "CreateTime", false)
			a := c.Start("a", simtest.NewDisk(), c.setup.Run)
			c.lastSecond(0)
			torn, err := c.setup.Tear(t.Context(), c.Client(), 0)
			c.check(err)
			a.KillAt(notice.PointProduced, 1)
			<-a.Done()
			c.check(torn.Commit(t.Context(), nil, pipetest.Whatever))
			c.check(torn.Follow(t.Context(), a.Disk()))
			if lost {
				c.check(logtest.Delete(t.Context(), c.Client(), c.setup.Config.Verdicts))
				c.check(c.setup.Topics(t.Context(), c.Client(), func(string) {}))
			}
			err = c.setup.Examine(t.Context(), c.Client(), a.Disk())
			const want = "the state of the local store stands at offset 21 at 2000-01-01T00:01:06Z of the input, the changelog's state at offset 21 at 2000-01-01T00:01:05Z"
			if lost && (err == nil || !strings.Contains(err.Error(), want)) || !lost && err != nil {
				t.Errorf("lost is %v: %v", lost, err)
			}
		})
	}
}

// TestAnExaminationBesideAnOwnerByTheClock examines a deployment again and again while its owner saves and closes
// steps, also between the requests of the examination. It must find nothing, and the owner must not notice it.
func TestAnExaminationBesideAnOwnerByTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		restarts := 0
		b := newByClock(t, 1, "LogAppendTime", func(s *pipetest.Setup) {
			s.Listener = notice.Listener{Restarted: func(int32, error) { restarts++ }, Aborted: func(int32) { restarts++ }}
		})
		a := b.Start("a", simtest.NewDisk(), b.setup.Run)
		time.Sleep(6 * time.Second)
		doctor := b.Lent("doctor")
		b.Fail(simtest.Fault{ // so that the owner commits between the requests of an examination
			Kind:   simtest.Kind{Member: "doctor", API: "ListOffsets", Partition: simtest.AnyPartition},
			Effect: simtest.Late(170 * time.Millisecond), Count: -1,
		})
		idle := make(chan struct{})
		go func() {
			defer close(idle)
			b.life(rand.New(rand.NewPCG(7, 7)), tiertest.Runs(15, 300))
		}()
		for i, done := 0, false; !done; i++ {
			time.Sleep(time.Duration(7+i*131%900) * time.Millisecond)
			if err := b.setup.Examine(t.Context(), doctor, a.Disk()); err != nil {
				t.Fatalf("examination %d: %v", i, err)
			}
			select {
			case <-idle:
				done = true
			default:
			}
		}
		b.settles()
		b.check(a.Stop())
		if restarts > 0 {
			t.Errorf("the owner was disturbed %d times", restarts)
		}
	})
}
