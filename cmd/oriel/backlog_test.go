package main

import (
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// TestEndingWithABacklogLeavesNoGap: a service that was told to end while fetches were waiting once dropped the rest of
// one and stepped over the next: events were left out, and after a kill the same indices came again with other values.
func TestEndingWithABacklogLeavesNoGap(t *testing.T) {
	const total = 60_000 / fewer
	f := newFixture(t, 2, nil)
	f.must("topics")
	for p := range int32(2) {
		f.send(p, events(0, total/2)...)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 6 {
		p := f.start(nil, "run")
		time.Sleep(time.Duration(200+random.IntN(300)) * time.Millisecond)
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		if random.IntN(2) == 0 { // a supervisor that does not wait
			time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
			_ = p.cmd.Process.Kill()
		}
		<-p.done
	}
	p, q := f.start(nil, "run"), f.start(map[string]string{"ORIEL_STATE_DIR": f.env["ORIEL_STATE_DIR"] + strconv.Itoa(1)},
		"run")
	f.awaitTaken(2*time.Minute, total/2, total/2)
	p.terminate()
	q.terminate()
	for p := range int32(2) {
		f.checkHistory(p, total/2)
	}
}
