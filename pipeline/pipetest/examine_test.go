package pipetest_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

// TestAnExaminationBesideAnOwner examines a deployment again and again while its owner commits, also between the
// requests of the examination. It must find nothing, and the owner must not notice it.
func TestAnExaminationBesideAnOwner(t *testing.T) {
	for name, setup := range examinedSetups() {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := examinedWhole(t, setup)
				var restarts int
				setup := w.setup
				setup.Listener = notice.Listener{Restarted: func(int32, error) { restarts++ }, Aborted: func(int32) { restarts++ }}
				a := w.Start("a", simtest.NewDisk(), setup.Run)
				doctor := w.Lent("doctor")
				w.Fail(simtest.Fault{ // so that the owner commits between the requests of an examination
					Kind:   simtest.Kind{Member: "doctor", API: "ListOffsets", Partition: simtest.AnyPartition},
					Effect: simtest.Late(20 * time.Millisecond), Count: -1,
				})
				idle := make(chan struct{})
				go func() {
					for k := 0; ; k++ {
						select {
						case <-idle:
							return
						case <-time.After(time.Duration(11+k%7) * time.Millisecond):
							w.send(k%len(w.sent), 1+k%5)
						}
					}
				}()
				for i := range tiertest.Runs(6, 200) {
					time.Sleep(time.Duration(7+i*13%50) * time.Millisecond)
					if err := w.setup.Examine(t.Context(), doctor, a.Disk()); err != nil {
						t.Fatalf("examination %d: %v", i, err)
					}
				}
				close(idle)
				time.Sleep(2 * time.Second)
				w.check(a.Stop())
				if restarts > 0 {
					t.Errorf("the owner was disturbed %d times", restarts)
				}
			})
		})
	}
}

// TestAnExaminationAfterADeath examines a deployment whose owner has died at a point of a transaction, while its
// session and its transaction are still open, and later. It must find nothing and change nothing, and the next owner
// goes on.
func TestAnExaminationAfterADeath(t *testing.T) {
	for name, setup := range examinedSetups() {
		for _, point := range []notice.Point{
			notice.PointFenced, notice.PointRestored, notice.PointProduced, notice.PointEnded,
		} {
			t.Run(name+" "+string(point), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					w := examinedWhole(t, setup)
					a := w.Start("a", simtest.NewDisk(), w.setup.Run)
					if point == notice.PointProduced || point == notice.PointEnded {
						w.send(0, 5)
						time.Sleep(3 * time.Second)
					}
					a.KillAt(point, 1)
					w.send(0, 7)
					for a.Alive() {
						time.Sleep(time.Millisecond)
					}
					for range 3 {
						before := w.ends()
						if err := w.setup.Examine(t.Context(), w.Client(), a.Disk()); err != nil {
							t.Fatal(err)
						}
						if after := w.ends(); !slices.Equal(before, after) {
							t.Errorf("the topics were %v and are %v", before, after)
						}
						time.Sleep(3 * time.Second)
					}
					b := w.Start("b", a.Disk(), w.setup.Run)
					time.Sleep(30 * time.Second)
					w.check(b.Stop())
					if n := len(w.read(w.setup.Config.Decisions, false)); n != w.taken {
						t.Errorf("%d decisions, want %d", n, w.taken)
					}
				})
			})
		}
	}
}

// examinedSetups returns deployments with one stream a partition, and with one stream of a whole topic.
func examinedSetups() map[string]pipetest.Setup {
	return map[string]pipetest.Setup{"partition": pipetest.NewSetup(), "topic": pipetest.NewSetup().WholeTopic()}
}

// examinedWhole prepares a deployment: with one partition if each partition is a stream.
func examinedWhole(t *testing.T, setup pipetest.Setup) *whole {
	t.Helper()
	w := &whole{history: history{t: t, Deployment: simtest.New(t), setup: setup}, sent: make([]int, 1)}
	if setup.Config.WholeTopic() {
		w.sent = make([]int, 2)
	}
	w.check(setup.Prepare(t.Context(), w.Client(), len(w.sent)))
	return w
}

// ends returns the ends of the first partition of the topics that the service writes.
func (w *whole) ends() (all []topics.Bounds) {
	w.t.Helper()
	c := w.setup.Config
	for _, topic := range []string{c.Decisions, c.Verdicts, c.Changelog} {
		b, err := topics.BoundsOf(w.t.Context(), w.Client(), topic, 0)
		w.check(err)
		all = append(all, b)
	}
	return all
}
