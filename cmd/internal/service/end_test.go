package service_test

import (
	"fmt"
	"maps"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gonum.org/v1/gonum/floats"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/decision"
)

// end ends the deployment for good, and returns the offsets that the command prints.
func (f *fixture) end(flags ...string) (offsets string) {
	f.T.Helper()
	said := f.Must(append(append([]string{"end"}, flags...), f.Name)...)
	return said[strings.Index(said, f.Env["ORIEL_INPUT_TOPIC"]+","):]
}

// next returns another deployment on the input of f, with a master key of its own. It starts at offsets, and from the
// last decision of partition 0 of f.
func (f *fixture) next(offsets string, more map[string]string) *fixture {
	f.T.Helper()
	copied := *f.Fixture
	next := &fixture{&copied}
	next.Name = f.Name + "b"
	next.Env = maps.Clone(f.Env)
	folder := f.T.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			f.T.Fatal(err)
		}
		return path
	}
	last := f.Read(f.Topic("decisions"), 0, false)
	line, err := decision.AppendLine(nil, last[len(last)-1].Value)
	if err != nil {
		f.T.Fatal(err)
	}
	servicetest.WriteKey(f.T, filepath.Join(folder, "key"), 9)
	maps.Copy(next.Env, map[string]string{
		"ORIEL_NAME": next.Name, "ORIEL_MASTER_KEY_FILE": filepath.Join(folder, "key"),
		"ORIEL_STATE_DIR": filepath.Join(folder, "state"), "ORIEL_START": file("offsets.csv", offsets),
		"ORIEL_START_POINT": file("point.json", string(line)),
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

// TestADeploymentGoesOnInAnother ends a running deployment whose key is lost. A new deployment with its own key starts
// at the offsets that the end prints, and from the old one's last decision. It survives crashes while it opens, and can
// be replayed like any other. Of each record exactly one of the two must publish a decision: the old process must not
// commit any more, and must not be able to start again.
func TestADeploymentGoesOnInAnother(t *testing.T) {
	t.Parallel()
	const before, all = 300, 360
	f := newFixture(t, 1, forgetting())
	f.Must("topics")
	f.Send(0, servicetest.Events(0, before)...)
	old := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, before)

	key := f.Env["ORIEL_MASTER_KEY_FILE"]
	delete(f.Env, "ORIEL_MASTER_KEY_FILE")
	offsets := f.end()
	if want := fmt.Sprintf("%s,0,%d\n", f.Env["ORIEL_INPUT_TOPIC"], before); offsets != want || f.end() != want {
		t.Fatalf("ends at %q, want %q twice", offsets, want)
	}
	f.Env["ORIEL_MASTER_KEY_FILE"] = key
	next := f.next(offsets, nil)
	next.Must("topics")
	killed := next.Start(map[string]string{"TEST_KILL": "produced:1"}, "run")
	killed.Finish(time.Minute)
	running := next.Start(nil, "run")
	next.AwaitTaken(time.Minute, before) // the opening commits this offset
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	next.Must("replay", "--save", checkpoint)
	f.Send(0, servicetest.Events(before, all-before)...)
	next.AwaitTaken(time.Minute, all)
	running.Terminate()
	if old.Finish(time.Minute) { // when it commits, the broker refuses the ended deployment
		t.Error("the old process ended well")
	}
	old.Says("this deployment was ended for good", "oriel end")

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
	f.Refused(nil, "this deployment was ended for good")
	next.Refused(map[string]string{"ORIEL_START_POINT": ""}, "the configuration differs", "ORIEL_START_POINT")
	other := next.Read(next.Topic("decisions"), 0, false)[0].Value
	path := servicetest.WriteFile(t, "other.json", other)
	next.Refused(map[string]string{"ORIEL_START_POINT": path}, "the configuration differs", "ORIEL_START_POINT")
}

// TestADeploymentThatLostItsChangelogEnds checks that a deployment whose state is deleted can be ended. A partition
// that it did not have starts at its first record.
func TestADeploymentThatLostItsChangelogEnds(t *testing.T) {
	t.Parallel()
	const before, all = 200, 230
	f := servedWith(t, forgetting(), before)
	f.deleteTopic(f.Topic("changelog"))
	input := f.Env["ORIEL_INPUT_TOPIC"]
	if err := topics.AddPartitions(f.Ctx(), f.Client, input, 2); err != nil {
		t.Fatal(err)
	}
	f.Send(1, servicetest.Events(0, 10)...)
	offsets := f.end()
	if want := fmt.Sprintf("%s,0,%d\n%s,1,0\n", input, before, input); offsets != want {
		t.Errorf("ends at %q, want %q", offsets, want)
	}
	next := f.next(offsets, nil)
	next.Partitions = 2
	next.Must("topics")
	f.Send(0, servicetest.Events(before, all-before)...)
	running := next.Start(nil, "run")
	next.AwaitTaken(time.Minute, all, 10)
	running.Terminate()
	next.CheckHistory(0, all-before)
	next.CheckHistory(1, 10)
}

// TestTheEndOfABusyDeployment ends a deployment between two events of a stream of events. Its process goes on, and
// tries to take its transactional id back when it has lost it. For each event, exactly one deployment must publish a
// decision.
func TestTheEndOfABusyDeployment(t *testing.T) {
	t.Parallel()
	const all = 2000
	f := newFixture(t, 1, forgetting())
	f.Must("topics")
	old := f.Start(nil, "run")
	var next *fixture
	var running *servicetest.Process
	for i := 0; i < all; i += 10 {
		f.Send(0, servicetest.Events(i, 10)...)
		time.Sleep(5 * time.Millisecond)
		if i == 500 {
			f.AwaitTaken(time.Minute, 510)
			next = f.next(f.end(), nil)
			next.Must("topics")
			running = next.Start(nil, "run")
		}
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

// TestWrongStartsAreRefused checks that a new deployment fails if a file does not say where it starts. It must not
// guess. The end needs the name of the deployment.
func TestWrongStartsAreRefused(t *testing.T) {
	t.Parallel()
	f := servedWith(t, forgetting(), 5)
	f.Fails("name the deployment that you end", "end", "other")
	input := f.Env["ORIEL_INPUT_TOPIC"]
	next := f.next(input+",0,5\n", nil)
	next.Must("topics")
	starts := map[string]string{
		input + ",1,5\n":                  "the file has no line for partition 0",
		input + ",0,6\n":                  "offset 6 of partition 0",
		"other,0,5\n":                     `topic "other"; the input is "` + input + `"`,
		input + ",0,5,more\n":             "wrong number of fields",
		input + ",0,-5\n":                 "not whole numbers from 0",
		strings.Repeat(input+",0,5\n", 2): "partition 0 has a second line",
		"":                                "want lines topic,partition,offset",
	}
	for file, says := range starts {
		path := servicetest.WriteFile(t, "start.csv", []byte(file))
		next.Refused(map[string]string{"ORIEL_START": path}, "ORIEL_START", says)
	}
	next.Refused(map[string]string{"ORIEL_START": "earlist"}, "not earliest, latest or a file of offsets")

	line := string(f.Read(f.Topic("decisions"), 0, false)[0].Value)
	for _, bad := range []struct {
		file, says string
		change     map[string]string
	}{
		{line, "without ORIEL_MEMORY the noise", map[string]string{"ORIEL_WINDOW": "64", "ORIEL_MEMORY": ""}},
		{line + "\n" + line, "2 decisions in the file", nil},
		{line, "as many coordinates as ORIEL_DIMENSION", map[string]string{"ORIEL_DIMENSION": "7"}},
		{"# nothing\n", "no line of the file has an entry", nil},
		{`{"step":1}`, "line 1: not a decision", nil},
	} {
		env := map[string]string{"ORIEL_START_POINT": servicetest.WriteFile(t, "point.json", []byte(bad.file))}
		maps.Copy(env, bad.change)
		p := next.Start(env, "topics")
		if p.Finish(time.Minute) || !strings.Contains(p.Output(), "ORIEL_START_POINT: ") ||
			!strings.Contains(p.Output(), bad.says) {
			t.Errorf("%v: %s", bad, p.Output())
		}
	}
}
