package main

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStreamEndsAtItsHorizon: a partition stops before the first event of the step behind the horizon, with all before
// it committed and the offset on that event; the others go on; a restart refuses again and releases nothing.
func TestStreamEndsAtItsHorizon(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, map[string]string{"ORIEL_WINDOW": "horizon", "ORIEL_HORIZON": "40", "ORIEL_MECHANISM": "blt"})
	f.must("topics")
	f.send(0, events(0, 30)...)
	f.send(1, events(0, 30)...)
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, 30, 30)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	f.must("replay", "--save", checkpoint)
	stopped := func(p *process, partition string) func() bool {
		return func() bool {
			for line := range strings.Lines(p.output()) {
				if strings.Contains(line, "msg=stopped partition="+partition) && strings.Contains(line, "the horizon is reached") {
					return true
				}
			}
			return false
		}
	}
	f.send(0, events(30, 10)...) // the horizon is reached, and no event is behind it
	f.awaitTaken(time.Minute, 40)
	if stopped(p, "0")() {
		t.Error("the stream stops before an event is there that it must not take")
	}
	f.send(0, events(40, 25)...)
	f.await(time.Minute, "partition 0 stops", stopped(p, "0"))
	f.send(1, events(30, 5)...)
	f.awaitTaken(time.Minute, 40, 35)
	p.terminate()
	for _, text := range []string{"whole life", "horizon_steps=40", "epsilon at every age", "ORIEL_NAME"} {
		if !strings.Contains(p.output(), text) {
			t.Errorf("the log does not say %q", text)
		}
	}
	f.checkHistory(0, 40)
	f.compares(checkpoint, 10)

	f.send(1, events(35, 5+1)...)
	f.refused(nil, "the horizon is reached")
	f.checkHistory(0, 40)
	f.checkHistory(1, 40)
	f.awaitTaken(time.Minute, 40, 40)
	f.refused(map[string]string{"ORIEL_HORIZON": "64"}, "HORIZON")
	f.refused(map[string]string{"ORIEL_WINDOW": "40"}, "WINDOW")
}

// TestOnceRunsWithoutAWindow: the service states a guarantee for the whole life.
func TestOnceRunsWithoutAWindow(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1,
		map[string]string{"ORIEL_UPDATE": "ogd", "ORIEL_MECHANISM": "once-gaussian", "ORIEL_WINDOW": "lifetime"})
	f.must("topics")
	f.send(0, events(0, 50)...)
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, 50)
	p.terminate()
	for _, text := range []string{"whole life", "one release", "epsilon at every age"} {
		if !strings.Contains(p.output(), text) {
			t.Errorf("the log does not say %q", text)
		}
	}
	if strings.Contains(p.output(), "window_steps") {
		t.Error("the log states a window")
	}
	f.goesOn(50)
	if line := string(f.read(f.topic("decisions"), 0, false)[0].Value); !strings.Contains(line, `"mechanism":"once-gaussian","window":0,`) {
		t.Errorf("a decision is %s", line)
	}
}
