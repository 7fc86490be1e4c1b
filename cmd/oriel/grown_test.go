package main

import (
	"strings"
	"testing"
	"time"
)

func (f *fixture) growInput(partitions int) {
	f.t.Helper()
	if err := f.client.AddPartitions(f.ctx(), f.env["ORIEL_INPUT_TOPIC"], partitions); err != nil {
		f.t.Fatal(err)
	}
	f.partitions = partitions
}

// twoAtWork is a new deployment of two partitions, whose service, within this process, has taken ten events of each.
func twoAtWork(t *testing.T) (*fixture, *inside) {
	t.Helper()
	f := newFixture(t, 2, nil)
	f.must("topics")
	s := f.inside(func(*host) {})
	f.sendAll(0, 10)
	f.awaitTaken(time.Minute, 10, 10)
	return f, s
}

// TestAGrownInputStopsNobody: a partition that was added to the input stopped the whole service, until somebody altered
// three topics by hand.
func TestAGrownInputStopsNobody(t *testing.T) {
	t.Parallel()
	f, s := twoAtWork(t)

	f.growInput(3)
	s.says("partitions were added to the input")
	s.says("Run `oriel topics`")
	f.sendAll(10, 10)
	f.awaitTaken(20*time.Second, 20, 20)
	f.await(10*time.Second, "/readyz shows the partition that waits", func() bool {
		return s.ready() == "partition 2: stopped\n"
	})

	if out := f.must("topics"); strings.Count(out, "added partitions to "+f.name+".") != 4 {
		t.Errorf("`oriel topics` does not say what it did: %s", out)
	}
	f.awaitTaken(20*time.Second, 20, 20, 10)
	f.await(10*time.Second, "ready", func() bool { return s.ready() == "ready\n" })
	if out := f.must("topics"); strings.Contains(out, "added") {
		t.Errorf("`oriel topics` says that it did something: %s", out)
	}
	s.endsWell()
	for p := range int32(2) {
		f.checkHistory(p, 20)
	}
	f.checkHistory(2, 10)
}

// TestAGrownInputIsSharedAfterARestart: whoever takes its place in the group again is given the shares of before, and
// is not told that it leads.
func TestAGrownInputIsSharedAfterARestart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	p := f.hasTakenTen()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.done
	f.growInput(2)
	f.must("topics")
	f.send(1, events(0, 10)...)
	again := f.start(nil, "run")
	f.awaitTaken(time.Minute, 10, 10)
	again.terminate()
}

// TestAGrownInputIsRefusedAtUserLevel: a producer that keys by user sends some users elsewhere from then on.
func TestAGrownInputIsRefusedAtUserLevel(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{"ORIEL_USER_ID": "key", "ORIEL_USER_SEPARATION": "64"})
	f.must("topics")
	running := f.start(nil, "run")
	f.await(time.Minute, "the service runs", func() bool { return strings.Contains(running.output(), "state=running") })
	f.growInput(2)
	if running.finish(time.Minute) {
		t.Error("the service goes on")
	}
	for _, p := range []*process{running, f.start(nil, "topics"), f.start(nil, "run")} {
		if p.finish(time.Minute) || !strings.Contains(p.output(), "a user whose events go to another partition") ||
			!strings.Contains(p.output(), "ORIEL_NAME") {
			t.Errorf("the refusal does not say why: %s", p.output())
		}
	}
}

// TestRefuseAnInputThatWasDeleted: the advice was to create it, which the next start refused.
func TestRefuseAnInputThatWasDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	running := f.hasTakenTen()
	if err := f.client.DeleteTopic(f.ctx(), f.env["ORIEL_INPUT_TOPIC"]); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*process{
		running, f.start(nil, "run"), f.start(nil, "topics"), f.start(nil, "topics", "--input-partitions", "1"),
	} {
		if p.finish(time.Minute) || !strings.Contains(p.output(), "do not make it again") ||
			!strings.Contains(p.output(), "ORIEL_NAME") {
			t.Errorf("%v does not say what to do: %s", p.cmd.Args[1:], p.output())
		}
	}
	fresh := newFixture(t, 1, nil)
	fresh.env["ORIEL_INPUT_TOPIC"] = fresh.name + ".missing"
	if p := fresh.start(nil, "topics"); p.finish(time.Minute) || !strings.Contains(p.output(), "--input-partitions") {
		t.Errorf("a deployment that was never opened is not told how to create its input: %s", p.output())
	}
}

// TestRefuseAChangelogThatWasDeleted: `oriel topics` was advised, made an empty one and said that the deployment is
// ready.
func TestRefuseAChangelogThatWasDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	running := f.hasTakenTen()
	if err := f.client.DeleteTopic(f.ctx(), f.topic("changelog")); err != nil {
		t.Fatal(err)
	}
	for _, p := range []*process{running, f.start(nil, "run"), f.start(nil, "topics")} {
		if p.finish(time.Minute) || !strings.Contains(p.output(), "the state of this deployment is lost") || strings.Contains(p.output(), "Run `oriel topics`") {
			t.Errorf("%v does not say what is lost: %s", p.cmd.Args[1:], p.output())
		}
	}
}

// TestDecisionsThatWereDeletedAreMissed by all at once and alike: "run `oriel topics`" led to another message.
func TestDecisionsThatWereDeletedAreMissed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.must("topics")
	s := f.inside(func(*host) {})
	f.send(0, events(0, 10)...)
	f.awaitTaken(time.Minute, 10)
	if err := f.client.DeleteTopic(f.ctx(), f.topic("decisions")); err != nil {
		t.Fatal(err)
	}
	texts := []string{
		"has published some: its decisions are lost", "Bring the topic back from a backup", "privacy loss adds", "ORIEL_NAME",
	}
	says := func(where, text string) {
		t.Helper()
		for _, want := range texts {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q: %s", where, want, text)
			}
		}
		if strings.Contains(text, "oriel topics") {
			t.Errorf("%s advises to make the topic again: %s", where, text)
		}
	}
	f.await(10*time.Second, "/readyz doubts it", func() bool { return strings.Contains(s.ready(), texts[0]) })
	says("/readyz", s.ready())
	select {
	case err := <-s.done:
		says("run", err.Error())
	case <-time.After(time.Minute):
		t.Fatal("the service goes on without its decisions")
	}
	for _, command := range []string{"topics", "run"} {
		p := f.start(nil, command)
		if p.finish(time.Minute) {
			t.Errorf("%s goes on without the decisions", command)
		}
		says(command, p.output())
	}
	f.createTopic(f.topic("decisions"), 1, map[string]string{"max.message.bytes": "8388608"})
	p := f.start(nil, "run")
	if p.finish(time.Minute) {
		t.Error("run goes on with a topic that was made again")
	}
	p.says("was deleted and made again, or lost records", "Bring it back from a backup", "privacy loss adds")
}
