package pipetest_test

import (
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

// TestAStandbyTakesOverAddedPartitions adds partitions after a standby process has started. The owner takes events of
// them, of which only the group's offsets are committed. The standby must not believe that these offsets were set by
// hand.
func TestAStandbyTakesOverAddedPartitions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(t, pipetest.NewSetup(), 2, 1)
		a := w.Start("a", simtest.NewDisk(), w.setup.Run)
		time.Sleep(2 * time.Second)
		checkpoint := w.checkpoint()
		b := w.Start("b", simtest.NewDisk(), w.setup.Run)
		time.Sleep(10 * time.Second)
		w.check(topics.AddPartitions(t.Context(), w.Client(), w.setup.Config.Input, 4))
		w.sent = append(w.sent, 0, 0)
		for p := range w.sent {
			w.send(p, 5+p)
		}
		time.Sleep(10 * time.Second)
		torn, err := w.setup.Tear(t.Context(), w.Client(), 0)
		w.check(err)
		owner, standby := a, b // the group may assign the stream to either
		if all := w.Requests(); all[lastOf(all, "EndTxn")].Member == b.Name {
			owner, standby = b, a
		}
		owner.KillAt(notice.PointProduced, 1)
		w.send(1, 3)
		w.send(3, 4)
		for owner.Alive() {
			time.Sleep(time.Millisecond)
		}
		// The commit comes before the dead owner's session ends.
		w.check(torn.Commit(t.Context(), []pipetest.Part{pipetest.Offset}, pipetest.Whatever))
		time.Sleep(20 * time.Second)
		if !standby.Alive() {
			t.Error("the process that stood by has ended")
		}
		w.isWhole(checkpoint)
	})
}

// lastOf returns the index of the newest request of an API.
func lastOf(all []simtest.Request, api string) int {
	for i := len(all) - 1; ; i-- {
		if all[i].API == api {
			return i
		}
	}
}
