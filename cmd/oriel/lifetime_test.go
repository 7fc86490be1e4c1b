package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestAMemoryThroughKillsAndResets: a deployment whose sums forget goes on with the same bytes through kills, before and behind a
// reset of its noise; its decisions say no window and the memory; replay --check and tail know it; another memory is refused.
func TestAMemoryThroughKillsAndResets(t *testing.T) {
	t.Parallel()
	const before, all = 2040, 2070 // resets follow each 2048 steps of a memory of 2
	f := newFixture(t, 1, map[string]string{
		"ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "2", "ORIEL_MECHANISM": "blt", "ORIEL_START_REGULARIZER": "3",
	})
	f.must("topics")
	f.send(0, withBad(0, before)...)
	p := f.start(map[string]string{"TEST_KILL": "produced:2"}, "run")
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		t.Fatalf("not killed: %s", p.output())
	}
	p = f.start(nil, "run")
	f.awaitTaken(2*time.Minute, before)
	p.terminate()
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	f.must("replay", "--save", checkpoint)
	f.send(0, withBad(before, all-before)...)
	p = f.start(map[string]string{"TEST_KILL": "committed:1"}, "run")
	select {
	case <-p.done:
	case <-time.After(30 * time.Second):
		t.Fatalf("not killed: %s", p.output())
	}
	p = f.start(nil, "run")
	f.awaitTaken(2*time.Minute, all)
	p.terminate()
	for _, text := range []string{"whole life: sums forget", "memory_steps=2"} {
		if !strings.Contains(p.output(), text) {
			t.Errorf("the log does not say %q", text)
		}
	}
	checkHistory(t, f, 0, all)
	decisions := f.read(f.topic("decisions"), 0, false)
	if last := string(decisions[len(decisions)-1].Value); !strings.Contains(last, `"window":0,`) || !strings.HasSuffix(last, `,"memory":2}`) {
		t.Errorf("the last decision is %s", last)
	}
	if said := f.must("replay", "--check", "--from", checkpoint); !strings.Contains(said, "30 decisions compared, all equal") {
		t.Errorf("replay --check says %q", said)
	}
	f.refused(map[string]string{"ORIEL_MEMORY": "4"}, "MEMORY")
}
