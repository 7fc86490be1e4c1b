package service_test

import (
	"math/rand/v2"
	"strconv"
	"syscall"
	"testing"
	"time"

	"oriel/cmd/internal/repotest"
	"oriel/cmd/internal/servicetest"
)

// TestEndingWithABacklogLeavesNoGap: a service that was told to end while fetches were waiting once dropped the rest of
// one and stepped over the next: events were left out, and after a kill the same indices came again with other values.
func TestEndingWithABacklogLeavesNoGap(t *testing.T) {
	const total = 60_000 / repotest.Fewer
	f := newFixture(t, 2, nil)
	f.Must("topics")
	for p := range int32(2) {
		f.Send(p, servicetest.Events(0, total/2)...)
	}
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	for range 6 {
		p := f.Start(nil, "run")
		time.Sleep(time.Duration(200+random.IntN(300)) * time.Millisecond)
		_ = p.Cmd.Process.Signal(syscall.SIGTERM)
		if random.IntN(2) == 0 { // a supervisor that does not wait
			time.Sleep(time.Duration(random.IntN(40)) * time.Millisecond)
			_ = p.Cmd.Process.Kill()
		}
		<-p.Done
	}
	p, q := f.Start(nil, "run"), f.Start(map[string]string{"ORIEL_STATE_DIR": f.Env["ORIEL_STATE_DIR"] + strconv.Itoa(1)},
		"run")
	f.AwaitTaken(2*time.Minute, total/2, total/2)
	p.Terminate()
	q.Terminate()
	for p := range int32(2) {
		f.CheckHistory(p, total/2)
	}
}
