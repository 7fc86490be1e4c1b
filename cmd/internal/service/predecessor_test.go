package service_test

import (
	"maps"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/decision"
)

// after returns a deployment on the input of f that continues f's deployment, with a master key of its own.
func (f *fixture) after(more map[string]string) *fixture {
	f.T.Helper()
	copied := *f.Fixture
	next := &fixture{&copied}
	next.Name = f.Name + "b"
	next.Env = maps.Clone(f.Env)
	key := filepath.Join(f.T.TempDir(), "next.key")
	servicetest.WriteKey(f.T, key, 9)
	maps.Copy(next.Env, map[string]string{
		"ORIEL_NAME": next.Name, "ORIEL_AFTER": f.Name, "ORIEL_MASTER_KEY_FILE": key,
		"ORIEL_STATE_DIR": filepath.Join(f.T.TempDir(), "next"),
	})
	maps.Copy(next.Env, more)
	return next
}

// points returns the committed decisions of partition 0.
func (f *fixture) points() (all []decision.Decision) {
	f.T.Helper()
	for _, r := range f.Read(f.Topic("decisions"), 0, false) {
		d, err := decision.Parse(r.Value)
		if err != nil {
			f.T.Fatal(err)
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

// TestANewLifeGoesOnAfterALostKey covers a running deployment whose key is lost. A new deployment with its own key ends
// the old one for good. The new deployment starts each partition at the old one's last decision and group offset,
// survives crashes while it opens, and can be replayed like any other. The old process must not publish another
// decision, and must not be able to start again.
func TestANewLifeGoesOnAfterALostKey(t *testing.T) {
	t.Parallel()
	const before, all = 300, 360
	f := newFixture(t, 1, forgetting())
	f.Must("topics")
	f.Send(0, servicetest.Events(0, before)...)
	old := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, before)

	next := f.after(nil)
	next.Must("topics")
	killed := next.Start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	killed.Finish(time.Minute)
	running := next.Start(nil, "run")
	next.AwaitTaken(time.Minute, before) // the opening commits this offset
	killed.Says("goes on after " + f.Name + ": from its decision of step 300, at offset 300")
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	next.Must("replay", "--save", checkpoint)
	f.Send(0, servicetest.Events(before, all-before)...)
	next.AwaitTaken(time.Minute, all)
	running.Terminate()
	if old.Finish(time.Minute) { // when it commits, the broker refuses the ended deployment
		t.Error("the old process ended well")
	}
	old.Says("this deployment is over", next.Name, "goes on after it")

	f.CheckHistory(0, before)
	next.CheckHistory(0, all-before)
	next.Compares(checkpoint, all-before)
	last, first := f.points()[before-1], next.points()[0]
	if last.Incarnation == first.Incarnation {
		t.Error("one incarnation")
	}
	// A start without the last decision would be at 0.
	if moved := floats.Distance(last.Point, first.Point, 2); moved > 0.5*math.Sqrt(floats.Dot(last.Point, last.Point)) {
		t.Errorf("from %v to %v", last.Point, first.Point)
	}
	f.Refused(nil, "this deployment is over")
	next.Refused(map[string]string{"ORIEL_AFTER": ""}, "AFTER")
}

// TestANewLifeGoesOnAfterALostChangelog checks that a new deployment can also continue a deployment whose state is
// deleted. A partition that the old deployment did not have starts as in any new deployment.
func TestANewLifeGoesOnAfterALostChangelog(t *testing.T) {
	t.Parallel()
	const before, all = 200, 230
	f := servedWith(t, forgetting(), before)
	f.deleteTopic(f.Topic("changelog"))
	if err := topics.AddPartitions(f.Ctx(), f.Client, f.Env["ORIEL_INPUT_TOPIC"], 2); err != nil {
		t.Fatal(err)
	}
	next := f.after(nil)
	next.Partitions = 2
	next.Must("topics")
	f.Send(0, servicetest.Events(before, all-before)...)
	f.Send(1, servicetest.Events(0, 10)...)
	running := next.Start(nil, "run")
	next.AwaitTaken(time.Minute, all, 10)
	running.Says("goes on after " + f.Name + ": from its decision of step 200, at offset 200")
	running.Terminate()
	next.CheckHistory(0, all-before)
	next.CheckHistory(1, 10)
}

// TestANewLifeEndsABusyOne starts the new deployment while the old one consumes events, commits, and takes back its
// transactional id whenever it loses it. For each event, exactly one of the two must publish a decision.
func TestANewLifeEndsABusyOne(t *testing.T) {
	t.Parallel()
	const all = 2000
	f := newFixture(t, 1, forgetting())
	f.Must("topics")
	old := f.Start(nil, "run")
	next := f.after(nil)
	next.Must("topics")
	var running *servicetest.Process
	for i := 0; i < all; i += 10 {
		if i == 500 {
			f.AwaitTaken(time.Minute, 100)
			running = next.Start(nil, "run")
		}
		f.Send(0, servicetest.Events(i, 10)...)
		time.Sleep(5 * time.Millisecond)
	}
	next.AwaitTaken(time.Minute, all)
	running.Terminate()
	if old.Finish(time.Minute) {
		t.Error("the old process ended well")
	}
	before := len(f.Read(f.Topic("decisions"), 0, false))
	f.CheckHistory(0, before)
	next.CheckHistory(0, all-before)
}

// TestASuccessorWithoutAStartIsRefused checks that a new deployment fails if it does not know where to start. It must
// neither guess nor silently start without a predecessor.
func TestASuccessorWithoutAStartIsRefused(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, forgetting())
	next := f.after(nil)
	next.Fails("ORIEL_AFTER_DECISION_TOPIC", "topics") // it makes the topics all the same
	next.Refused(nil, "decision topic", f.Name+".decisions", "does not exist", "ORIEL_AFTER_DECISION_TOPIC")

	f.Must("topics")
	f.Send(0, servicetest.Events(0, 5)...)
	running := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 5)
	running.Terminate()
	next.Refused(map[string]string{"ORIEL_AFTER_GROUP": "nobody"}, "no committed offset", "reset-offsets")

	for _, bad := range []struct {
		change map[string]string
		says   string
	}{
		{map[string]string{"ORIEL_AFTER": next.Name}, "ORIEL_AFTER: \"" + next.Name + "\": the deployment itself"},
		{
			map[string]string{"ORIEL_WINDOW": "64", "ORIEL_MEMORY": ""},
			"ORIEL_AFTER: \"" + f.Name + "\": set, but the sums do not forget",
		},
		{map[string]string{"ORIEL_AFTER": "", "ORIEL_AFTER_GROUP": "g"}, "ORIEL_AFTER_GROUP: set, but ORIEL_AFTER is not"},
	} {
		p := next.Start(bad.change, "topics")
		if p.Finish(time.Minute) || !strings.Contains(p.Output(), bad.says) {
			t.Errorf("%v: %s", bad.change, p.Output())
		}
	}
}
