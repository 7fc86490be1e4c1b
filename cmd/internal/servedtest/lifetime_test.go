package servedtest

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
)

// TestAMemoryThroughKillsAndResets: a deployment whose sums forget goes on with the same bytes through kills, before
// and behind a reset of its noise; its decisions say no window and the memory; replay --check and tail know it; another
// memory is refused.
func TestAMemoryThroughKillsAndResets(t *testing.T) {
	t.Parallel()
	const before, all = 2040, 2070 // resets follow each 2048 steps of a memory of 2
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

// killedAndBack starts a service that is killed at a point, and another one, which takes all events and is ended.
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

// TestUsersOfAMemoryThroughKillsAndResets: with a memory a user's events are kept apart, and among any so many steps
// protected together, through kills before and behind a reset; decisions and the log say so, replay --check plays it
// again, another window is refused, and an audit with all of a user's events in the window does not refute it.
func TestUsersOfAMemoryThroughKillsAndResets(t *testing.T) {
	t.Parallel()
	const part, all = 2010, 2070 // resets follow each 2048 steps of a memory of 2
	f := newFixture(t, 1, map[string]string{
		"ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "2", "ORIEL_MECHANISM": "blt", "ORIEL_START_REGULARIZER": "3",
		"ORIEL_USER_ID": "key", "ORIEL_USER_SEPARATION": "5", "ORIEL_USER_WINDOW": "12",
	})
	f.Must("topics")
	records := servicetest.Crowd(all)
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
