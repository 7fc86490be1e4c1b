package service_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
)

// TestStreamEndsAtItsHorizon checks that a partition stops before the first event after the horizon. All earlier events
// are committed, and the group's offset stays on the first event after them. The other partitions go on; a restart
// fails again and releases nothing.
func TestStreamEndsAtItsHorizon(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, map[string]string{"ORIEL_WINDOW": "horizon", "ORIEL_HORIZON": "40", "ORIEL_MECHANISM": "blt"})
	f.Must("topics")
	f.Send(0, servicetest.Events(0, 30)...)
	f.Send(1, servicetest.Events(0, 30)...)
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 30, 30)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	f.Must("replay", "--save", checkpoint)
	stopped := func(p *servicetest.Process, partition string) func() bool {
		return func() bool {
			for line := range strings.Lines(p.Output()) {
				if strings.Contains(line, "msg=stopped partition="+partition) && strings.Contains(line, "the horizon is reached") {
					return true
				}
			}
			return false
		}
	}
	f.Send(0, servicetest.Events(30, 10)...) // the stream reaches the horizon, and no event follows
	f.AwaitTaken(time.Minute, 40)
	if stopped(p, "0")() {
		t.Error("the stream stops before an event is there that it must not take")
	}
	f.Send(0, servicetest.Events(40, 25)...)
	f.Await(time.Minute, "partition 0 stops", stopped(p, "0"))
	f.Send(1, servicetest.Events(30, 5)...)
	f.AwaitTaken(time.Minute, 40, 35)
	p.Terminate()
	for _, text := range []string{"whole life", "horizon_steps=40", "epsilon at every age", "ORIEL_NAME"} {
		if !strings.Contains(p.Output(), text) {
			t.Errorf("the log does not say %q", text)
		}
	}
	f.CheckHistory(0, 40)
	f.Compares(checkpoint, 10)

	f.Send(1, servicetest.Events(35, 5+1)...)
	f.Refused(nil, "the horizon is reached")
	f.CheckHistory(0, 40)
	f.CheckHistory(1, 40)
	f.AwaitTaken(time.Minute, 40, 40)
	f.Refused(map[string]string{"ORIEL_HORIZON": "64"}, "HORIZON")
	f.Refused(map[string]string{"ORIEL_WINDOW": "40"}, "WINDOW")
}

// TestOnceRunsWithoutAWindow checks a mechanism with per-step releases: the service states a guarantee for the stream's
// whole life.
func TestOnceRunsWithoutAWindow(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1,
		map[string]string{"ORIEL_UPDATE": "ogd", "ORIEL_MECHANISM": "once-gaussian", "ORIEL_WINDOW": "lifetime"})
	f.Must("topics")
	f.Send(0, servicetest.Events(0, 50)...)
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 50)
	p.Terminate()
	for _, text := range []string{"whole life", "one release", "epsilon at every age"} {
		if !strings.Contains(p.Output(), text) {
			t.Errorf("the log does not say %q", text)
		}
	}
	if strings.Contains(p.Output(), "window_steps") {
		t.Error("the log states a window")
	}
	f.goesOn(50)
	if line := string(f.Read(f.Topic("decisions"), 0, false)[0].Value); !strings.Contains(line, `"mechanism":"once-gaussian","window":0,`) {
		t.Errorf("a decision is %s", line)
	}
}
