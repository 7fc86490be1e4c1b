//go:build kafka

package service_test

import (
	"bytes"
	"maps"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
)

// limited is a fixture whose commands log in as the user oriel, with the rights of one command at a time.
type limited struct {
	*fixture
	granted []servicetest.ACL
}

// newLimited creates a deployment whose user has no rights yet. more has settings in addition to those of the login.
func newLimited(t *testing.T, partitions int, more map[string]string) *limited {
	t.Helper()
	settings := servicetest.Login(t)
	maps.Copy(settings, more)
	return &limited{fixture: newFixture(t, partitions, settings)}
}

// only takes all rights from the user, and then grants the rights that deploy/OPERATING.md lists for the commands.
func (f *limited) only(commands ...string) {
	f.T.Helper()
	f.Deny("User:oriel", f.granted...)
	f.granted = nil
	for _, command := range commands {
		f.granted = append(f.granted, f.RightsOf(command)...)
	}
	f.Allow("User:oriel", f.granted...)
}

// TestTheListedRightsAreEnough checks, for each command, that a Kafka user with exactly the rights listed in
// deploy/OPERATING.md can run it.
func TestTheListedRightsAreEnough(t *testing.T) {
	t.Parallel()
	f := newLimited(t, 1, nil)
	f.growAsAdmin()
	f.only("topics")
	f.Must("topics")
	f.only("run")
	f.Send(0, append(servicetest.Events(0, 20), servicetest.Event(20))...)
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 21)
	p.Terminate()
	f.only("letters")
	f.Must("letters", "--once")
	f.only("tail")
	if out := f.Must("tail", "--topic", f.Topic("decisions"), "--follow=false"); !strings.Contains(out, "21") {
		t.Errorf("tail shows no decision: %s", out)
	}
	f.only("replay")
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	f.Must("replay", "--save", checkpoint)
	f.Send(0, servicetest.Events(21, 5)...)
	f.only("run")
	p = f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 26)
	p.Terminate()
	f.only("replay")
	f.Compares(checkpoint, 5)
	f.only("end")
	f.Must("end", f.Name)
}

// TestTheListedRightsAreEnoughForAWholeTopic checks the listed rights for a stream of a whole topic. The process that
// writes the topic's order must start without the right to read events.
func TestTheListedRightsAreEnoughForAWholeTopic(t *testing.T) {
	t.Parallel()
	f := newLimited(t, 3, map[string]string{"ORIEL_STREAM": "topic", "ORIEL_SEQUENCER": "other"})
	f.only("topics")
	f.Must("topics")
	f.only("order")
	order := f.Start(nil, "order")
	f.Await(time.Minute, "the stream is waited for", func() bool {
		return strings.Contains(order.Output(), "waiting for oriel run")
	})
	f.only("order", "run")
	run := f.Start(nil, "run")
	f.sendAll(0, 10)
	f.AwaitTaken(time.Minute, 10, 10, 10)
	order.End()
	run.Terminate()
	f.only("replay")
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	f.Must("replay", "--save", checkpoint)
	f.only("order", "run")
	order = f.Start(nil, "order")
	run = f.Start(nil, "run")
	f.sendAll(10, 2)
	f.AwaitTaken(time.Minute, 12, 12, 12)
	order.End()
	run.Terminate()
	f.only("letters")
	f.Must("letters", "--once")
	f.only("replay")
	f.Compares(checkpoint, 6)
}

// TestTheListedRightsAreEnoughToRead checks the listed rights of the commands that need no key: those that
// examine a topic before there is a deployment, and those that read a deployment's decisions.
func TestTheListedRightsAreEnoughToRead(t *testing.T) {
	t.Parallel()
	f := newLimited(t, 1, map[string]string{"ORIEL_FEATURES_RANGE": "hour:0:24:cyclic"})
	input, decisions := f.Env["ORIEL_INPUT_TOPIC"], f.Topic("decisions")
	var events []byte
	for _, e := range servicetest.Events(0, 30) {
		events = append(append(events, e.Value...), '\n')
	}
	f.Send(0, servicetest.Events(0, 30)...)
	f.only("map")
	f.says("hour", "map", "--topic", input, "--label", "/label")
	f.only("init")
	f.says("oriel.env", "init", "--yes", "--brokers", f.Env["ORIEL_BROKERS"], "--topic", input, "--out",
		filepath.Join(t.TempDir(), "new"), "--want", "classes", "--label", "/label", "--ranges",
		"hour:0:24", "--memory", "1000", "--rate", "1", "--epsilon", "1", "--name", f.Name+"-new")
	f.only("eval")
	f.says("30", "eval", "--topic", input)
	f.serves(30)
	f.only("score")
	score := f.Child(nil, "score", "--topic", decisions)
	score.Stdin = bytes.NewReader(events)
	if p := f.Launch(score); !p.Finish(time.Minute) || !strings.Contains(p.Output(), "probability") {
		t.Errorf("score says %q", p.Output())
	}
	f.only("weights")
	f.says("hour", "weights", "--topic", decisions)
}

// TestTheListedRightsAreEnoughForNumbers checks the listed rights of the command that reads published numbers.
func TestTheListedRightsAreEnoughForNumbers(t *testing.T) {
	t.Parallel()
	f := newLimited(t, 1, nil)
	for _, other := range []string{"UPDATE", "LOSS", "SET", "RADIUS", "DIMENSION", "STRONG_CONVEXITY", "CLIP"} {
		delete(f.Env, "ORIEL_"+other)
	}
	f.Env["ORIEL_OPERATOR"], f.Env["ORIEL_CELLS"] = "aggregate", "carrier=c0|c1|c2"
	f.Env["ORIEL_MECHANISM"], f.Env["ORIEL_INCREMENTS"] = "blt", "true"
	f.Env["ORIEL_WINDOW"], f.Env["ORIEL_MEMORY"] = "lifetime", "1000"
	f.Send(0, servicetest.Events(0, 12)...)
	f.serves(12)
	f.only("numbers")
	f.says("carrier", "numbers", "--every", "1h", "--topic", f.Topic("decisions"))
}

// serves opens the deployment, and lets the service consume all events with all rights that it needs.
func (f *limited) serves(events int64) {
	f.T.Helper()
	f.only("topics")
	f.Must("topics")
	f.only("run")
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, events)
	p.Terminate()
}

// says runs a command, which must succeed and print the text want.
func (f *limited) says(want string, args ...string) {
	f.T.Helper()
	if out := f.Must(args...); !strings.Contains(out, want) {
		f.T.Errorf("oriel %s: want %q in %s", args[0], want, out)
	}
}

// growAsAdmin adds a second partition to the input, so that `oriel topics` must add one to existing topics.
func (f *fixture) growAsAdmin() {
	f.T.Helper()
	f.CreateTopic(f.Topic("verdicts"), 1,
		map[string]string{"cleanup.policy": "delete", "max.message.bytes": "8388608", "retention.ms": "-1"})
	f.growInput(2)
}
