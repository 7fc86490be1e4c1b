package main

import (
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"

	"oriel/schemas"
)

// after is a deployment on the input of f that goes on after it, with a master key of its own.
func (f *fixture) after(more map[string]string) *fixture {
	f.t.Helper()
	next := *f
	next.name = f.name + "b"
	next.env = maps.Clone(f.env)
	key := filepath.Join(f.t.TempDir(), "next.key")
	writeKey(f.t, key, 9)
	maps.Copy(next.env, map[string]string{
		"ORIEL_NAME": next.name, "ORIEL_AFTER": f.name, "ORIEL_MASTER_KEY_FILE": key,
		"ORIEL_STATE_DIR": filepath.Join(f.t.TempDir(), "next"),
	})
	maps.Copy(next.env, more)
	return &next
}

// points are the committed decisions of partition 0.
func (f *fixture) points() (all []schemas.Decision) {
	f.t.Helper()
	for _, r := range f.read(f.topic("decisions"), 0, false) {
		d, err := schemas.ParseDecision(r.Value)
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

func forgetting() map[string]string {
	return map[string]string{
		"ORIEL_WINDOW": "lifetime", "ORIEL_MEMORY": "64", "ORIEL_MECHANISM": "blt", "ORIEL_START_REGULARIZER": "300",
		"ORIEL_EPSILON": "2000",
	}
}

// TestANewLifeGoesOnAfterALostKey: the key of a running deployment is lost. Another one, under a key of its own, ends
// it for good, starts each partition at its last decision and its group's offset, survives kills while it opens, and is
// replayed like any other. What the old process would have done next never appears, and it does not come back.
func TestANewLifeGoesOnAfterALostKey(t *testing.T) {
	t.Parallel()
	const before, all = 300, 360
	f := newFixture(t, 1, forgetting())
	f.must("topics")
	f.send(0, events(0, before)...)
	old := f.start(nil, "run")
	f.awaitTaken(time.Minute, before)

	next := f.after(nil)
	next.must("topics")
	killed := next.start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	killed.finish(time.Minute)
	running := next.start(nil, "run")
	next.awaitTaken(time.Minute, before) // the opening
	killed.says("goes on after " + f.name + ": from its decision of step 300, at offset 300")
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	next.must("replay", "--save", checkpoint)
	f.send(0, events(before, all-before)...)
	next.awaitTaken(time.Minute, all)
	running.terminate()
	if old.finish(time.Minute) { // it hears of its end when it has something to commit
		t.Error("the old process ended well")
	}
	old.says("this deployment is over", next.name, "goes on after it")

	f.checkHistory(0, before)
	next.checkHistory(0, all-before)
	next.compares(checkpoint, all-before)
	last, first := f.points()[before-1], next.points()[0]
	if last.Incarnation == first.Incarnation {
		t.Error("one incarnation")
	}
	// from nothing it would start at 0
	if moved := floats.Distance(last.Point, first.Point, 2); moved > 0.5*math.Sqrt(floats.Dot(last.Point, last.Point)) {
		t.Errorf("from %v to %v", last.Point, first.Point)
	}
	f.refused(nil, "this deployment is over")
	next.refused(map[string]string{"ORIEL_AFTER": ""}, "AFTER")
}

// TestANewLifeGoesOnAfterALostChangelog: so it does when the old state is deleted, and a partition that the old one
// never had starts as any does.
func TestANewLifeGoesOnAfterALostChangelog(t *testing.T) {
	t.Parallel()
	const before, all = 200, 230
	f := newFixture(t, 1, forgetting())
	f.must("topics")
	f.send(0, events(0, before)...)
	running := f.start(nil, "run")
	f.awaitTaken(time.Minute, before)
	running.terminate()
	if err := f.client.DeleteTopic(f.ctx(), f.topic("changelog")); err != nil {
		t.Fatal(err)
	}
	if err := f.client.AddPartitions(f.ctx(), f.env["ORIEL_INPUT_TOPIC"], 2); err != nil {
		t.Fatal(err)
	}
	next := f.after(nil)
	next.partitions = 2
	next.must("topics")
	f.send(0, events(before, all-before)...)
	f.send(1, events(0, 10)...)
	running = next.start(nil, "run")
	next.awaitTaken(time.Minute, all, 10)
	running.says("goes on after " + f.name + ": from its decision of step 200, at offset 200")
	running.terminate()
	next.checkHistory(0, all-before)
	next.checkHistory(1, 10)
}

// TestANewLifeEndsABusyOne: the old deployment takes events and commits all the while, and takes its id back when it is
// taken. Each event is decided on once, by one of the two.
func TestANewLifeEndsABusyOne(t *testing.T) {
	t.Parallel()
	const all = 2000
	f := newFixture(t, 1, forgetting())
	f.must("topics")
	old := f.start(nil, "run")
	next := f.after(nil)
	next.must("topics")
	var running *process
	for i := 0; i < all; i += 10 {
		if i == 500 {
			f.awaitTaken(time.Minute, 100)
			running = next.start(nil, "run")
		}
		f.send(0, events(i, 10)...)
		time.Sleep(5 * time.Millisecond)
	}
	next.awaitTaken(time.Minute, all)
	running.terminate()
	if old.finish(time.Minute) {
		t.Error("the old process ended well")
	}
	before := len(f.read(f.topic("decisions"), 0, false))
	f.checkHistory(0, before)
	next.checkHistory(0, all-before)
}

// TestWhatANewLifeNeedsIsAskedFor: no guess where to start, and no start from nothing in silence.
func TestWhatANewLifeNeedsIsAskedFor(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, forgetting())
	next := f.after(nil)
	next.must("topics")
	next.refused(nil, "decision topic", f.name+".decisions", "does not exist", "ORIEL_AFTER_DECISION_TOPIC")

	f.must("topics")
	f.send(0, events(0, 5)...)
	running := f.start(nil, "run")
	f.awaitTaken(time.Minute, 5)
	running.terminate()
	next.refused(map[string]string{"ORIEL_AFTER_GROUP": "nobody"}, "no committed offset", "reset-offsets")

	for _, bad := range []struct {
		change map[string]string
		says   string
	}{
		{map[string]string{"ORIEL_AFTER": next.name}, "ORIEL_AFTER: \"" + next.name + "\": the deployment itself"},
		{
			map[string]string{"ORIEL_WINDOW": "64", "ORIEL_MEMORY": ""},
			"ORIEL_AFTER: \"" + f.name + "\": set, but the sums do not forget",
		},
		{map[string]string{"ORIEL_AFTER": "", "ORIEL_AFTER_GROUP": "g"}, "ORIEL_AFTER_GROUP: set, but ORIEL_AFTER is not"},
	} {
		p := next.start(bad.change, "topics")
		if p.finish(time.Minute) || !strings.Contains(p.output(), bad.says) {
			t.Errorf("%v: %s", bad.change, p.output())
		}
	}
}
