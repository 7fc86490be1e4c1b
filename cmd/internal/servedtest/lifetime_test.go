package servedtest

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
)

// TestAMemoryThroughKillsAndResets runs a deployment with decaying sums through kills before and after a reset of its
// noise. It must continue with the same bytes. Its decisions must state the memory and no window, replay --check and
// tail must work, and another memory must be refused.
func TestAMemoryThroughKillsAndResets(t *testing.T) {
	t.Parallel()
	const before, all = 2040, 2070 // with a memory of 2 steps, a reset follows every 2048 steps
	f := newFixture(t, 1, map[string]string{
		"ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "2", "ORIEL_MECHANISM": "blt", "ORIEL_START_REGULARIZER": "3",
	})
	f.Must("topics")
	f.Send(0, servicetest.WithBad(0, before)...)
	f.killedAndBack("produced:2", before)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	f.Must("replay", "--save", checkpoint)
	f.Send(0, servicetest.WithBad(before, all-before)...)
	f.killedAndBack("committed:1", all).Says("whole life: sums forget", "memory_steps=2")
	f.CheckHistory(0, all)
	decisions := f.Read(f.Topic("decisions"), 0, false)
	if last := string(decisions[len(decisions)-1].Value); !strings.Contains(last, `"window":0,`) || !strings.Contains(last, `,"memory":2,"time":`) {
		t.Errorf("the last decision is %s", last)
	}
	f.Compares(checkpoint, 30)
	f.Refused(map[string]string{"ORIEL_MEMORY": "4"}, "MEMORY")
}

// killedAndBack starts a service that is killed at a point, then another one, which consumes all events and is stopped.
func (f *fixture) killedAndBack(point string, taken int64) *servicetest.Process {
	f.T.Helper()
	killed := f.Start(map[string]string{"TEST_KILL": point}, "run")
	select {
	case <-killed.Done:
	case <-time.After(30 * time.Second):
		f.T.Fatalf("not killed: %s", killed.Output())
	}
	back := f.Start(nil, "run")
	f.AwaitTaken(2*time.Minute, taken)
	back.Terminate()
	return back
}

// TestUsersOfAMemoryThroughKillsAndResets runs user-level privacy with decaying sums through kills before and after a
// reset. Events of a user that are too close must be refused, and all events of a user within any window are protected
// together. Decisions and the log must state this, replay --check must agree, and another window must be refused. An
// audit with all of a user's events in the window must not refute the claim.
func TestUsersOfAMemoryThroughKillsAndResets(t *testing.T) {
	t.Parallel()
	const part, all = 2010, 2070 // with a memory of 2 steps, a reset follows every 2048 steps
	f := newFixture(t, 1, map[string]string{
		"ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "2", "ORIEL_MECHANISM": "blt", "ORIEL_START_REGULARIZER": "3",
		"ORIEL_USER_ID": "key", "ORIEL_USER_SEPARATION": "5", "ORIEL_USER_WINDOW": "12",
	})
	f.Must("topics")
	records := servicetest.OfNineUsers(all)
	f.Send(0, records[:part]...)
	f.killedAndBack("produced:2", part).Says(
		"among any user_window_steps", "user_window_steps=12", "separation_steps=5",
		"the events of a user among any 12 steps", "all events of a user since the first", "less than the window",
	)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	f.Must("replay", "--save", checkpoint)
	f.Send(0, records[part:]...)
	f.killedAndBack("committed:1", all)
	f.CheckHistory(0, all)
	got, want := servicetest.Reasons(f.Letters(0)), servicetest.Expected(records, 5)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("dead letters:\n%q, want\n%q", got, want)
	}
	decisions := f.Read(f.Topic("decisions"), 0, false)
	last := string(decisions[len(decisions)-1].Value)
	if !strings.Contains(last, `"window":0,`) || !strings.Contains(last, `"unit":"user","memory":2,"user_window":12,"time":`) {
		t.Errorf("the last decision is %s", last)
	}
	f.Compares(checkpoint, 60)
	f.Refused(map[string]string{"ORIEL_USER_WINDOW": "13"}, "USER_WINDOW")
	f.auditDoesNotRefute()
	if text := f.Must("plan"); !strings.Contains(text, "a user may have 3 events among 12 steps") {
		t.Errorf("plan: %s", text)
	}
}
