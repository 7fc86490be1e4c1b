package main

import (
	"testing"
	"time"

	"oriel/pipeline/notice"
	"oriel/pipeline/replay"
)

// TestReplayWaitsForCommitsOnTheirWay: a broker acknowledges a commit before it can be read. A checkpoint that was
// asked for just after a partition's opening was refused, as if there had been none, and a check just after a service
// left its last decisions out.
func TestReplayWaitsForCommitsOnTheirWay(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.prepare()
	produced, commit := make(chan bool), make(chan bool)
	transactions := 0
	s := f.serve(func(h *host) {
		h.heard.Reached = func(_ int32, p notice.Point) {
			if p != notice.PointProduced || transactions == 2 {
				return
			}
			transactions++
			produced <- true
			<-commit
		}
	}, nil)
	beside := func(read func() error) {
		t.Helper()
		<-produced
		failed := make(chan error, 1)
		go func() { failed <- read() }()
		time.Sleep(200 * time.Millisecond) // it has looked by then
		commit <- true
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
	var checkpoint []byte
	beside(func() (err error) {
		checkpoint, err = replay.Checkpoint(f.ctx(), f.deployment(), 0)
		return err
	})
	f.send(0, events(0, 20)...)
	beside(func() error {
		_, err := replay.Check(f.ctx(), f.deployment(), 0, checkpoint, func(int) {})
		return err
	})
	s.stop()
}
