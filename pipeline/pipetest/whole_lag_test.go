package pipetest_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"oriel/pipeline/deployment"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/simtest"
)

// TestLagIsSeenWithoutASequencer checks the lag of a deployment whose order writer is dead, so that nothing is
// committed. Events that are not ordered yet must count, and events before the start of the stream must not.
func TestLagIsSeenWithoutASequencer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWhole(t, pipetest.NewSetup(), 3, 3)
		w.setup.Config.OtherSequencer = true
		lag := atomic.Int64{}
		lag.Store(-1)
		w.setup.Listener.Behind = func(_ int32, n int64) { lag.Store(n) }
		w.send(0, 2)
		w.setup.Config.Start = deployment.StartLatest
		w.Start("a", simtest.NewDisk(), w.setup.Run)
		time.Sleep(20 * time.Second)
		if n := lag.Load(); n != 0 {
			t.Errorf("the lag is %d before there are events", n)
		}
		w.send(0, 7)
		w.send(2, 3)
		time.Sleep(20 * time.Second)
		if n := lag.Load(); n != 10 {
			t.Errorf("the lag is %d, want 10", n)
		}
	})
}
