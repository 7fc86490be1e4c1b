package service_test

import (
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/topics"
)

func (f *fixture) growInput(partitions int) {
	f.T.Helper()
	if err := topics.AddPartitions(f.Ctx(), f.Client, f.Env["ORIEL_INPUT_TOPIC"], partitions); err != nil {
		f.T.Fatal(err)
	}
	f.Partitions = partitions
}

// twoAtWork returns a new deployment of two partitions and its service in this process, after the service has consumed
// ten events of each partition.
func twoAtWork(t *testing.T) (*fixture, *inside) {
	t.Helper()
	f := newFixture(t, 2, nil)
	f.Must("topics")
	s := f.inside(func(*service.Host) {})
	f.sendAll(0, 10)
	f.AwaitTaken(time.Minute, 10, 10)
	return f, s
}

// TestAddedPartitionsStopNoService adds a partition to the input. Such a change once stopped the whole service until an
// administrator altered three topics.
func TestAddedPartitionsStopNoService(t *testing.T) {
	t.Parallel()
	f, s := twoAtWork(t)

	f.growInput(3)
	s.says("partitions were added to the input")
	s.says("Run `oriel topics`")
	f.sendAll(10, 10)
	f.AwaitTaken(20*time.Second, 20, 20)
	f.Await(10*time.Second, "/readyz shows the partition that waits", func() bool {
		return s.ready() == "partition 2: stopped\n"
	})

	if out := f.Must("topics"); strings.Count(out, "added partitions to "+f.Name+".") != 4 {
		t.Errorf("`oriel topics` does not say what it did: %s", out)
	}
	f.AwaitTaken(20*time.Second, 20, 20, 10)
	f.Await(10*time.Second, "ready", func() bool { return s.ready() == "ready\n" })
	if out := f.Must("topics"); strings.Contains(out, "added") {
		t.Errorf("`oriel topics` says that it did something: %s", out)
	}
	s.endsWell()
	for p := range int32(2) {
		f.CheckHistory(p, 20)
	}
	f.CheckHistory(2, 10)
}

// TestAddedPartitionsAreSharedAfterARestart checks that added partitions are assigned after a restart. A member that
// rejoins the group gets its earlier assignment, and the broker does not say that the member is the leader.
func TestAddedPartitionsAreSharedAfterARestart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	p := f.HasTakenTen()
	if err := p.Cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.Done
	f.growInput(2)
	f.Must("topics")
	f.Send(1, servicetest.Events(0, 10)...)
	again := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 10, 10)
	again.Terminate()
}

// TestAddedPartitionsAreRefusedAtUserLevel checks that added partitions are refused with user-level privacy, because a
// producer that keys by user sends some users to other partitions from then on.
func TestAddedPartitionsAreRefusedAtUserLevel(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{"ORIEL_USER_ID": "key", "ORIEL_USER_SEPARATION": "64"})
	f.Must("topics")
	running := f.Start(nil, "run")
	f.Await(time.Minute, "the service runs", func() bool { return strings.Contains(running.Output(), "state=running") })
	f.growInput(2)
	if running.Finish(time.Minute) {
		t.Error("the service goes on")
	}
	for _, p := range []*servicetest.Process{running, f.Start(nil, "topics"), f.Start(nil, "run")} {
		if p.Finish(time.Minute) || !strings.Contains(p.Output(), "a user whose events go to another partition") ||
			!strings.Contains(p.Output(), "ORIEL_NAME") {
			t.Errorf("the refusal does not say why: %s", p.Output())
		}
	}
}

// TestRefuseAnInputThatWasDeleted checks the advice for a deleted input. The message once advised creating the topic,
// which the next start refused.
func TestRefuseAnInputThatWasDeleted(t *testing.T) {
	t.Parallel()
	// with a shorter doubt, a fetch would be the first to report the deletion
	f := newFixture(t, 1, map[string]string{"TEST_DOUBT": "whole"})
	running := f.HasTakenTen()
	f.deleteTopic(f.Env["ORIEL_INPUT_TOPIC"])
	for _, p := range []*servicetest.Process{
		running, f.Start(nil, "run"), f.Start(nil, "topics"), f.Start(nil, "topics", "--input-partitions", "1"),
	} {
		if p.Finish(time.Minute) || !strings.Contains(p.Output(), "do not make it again") ||
			!strings.Contains(p.Output(), "ORIEL_NAME") {
			t.Errorf("%v does not say what to do: %s", p.Cmd.Args[1:], p.Output())
		}
	}
	fresh := newFixture(t, 1, nil)
	fresh.Env["ORIEL_INPUT_TOPIC"] = fresh.Name + ".missing"
	if p := fresh.Start(nil, "topics"); p.Finish(time.Minute) || !strings.Contains(p.Output(), "--input-partitions") {
		t.Errorf("a deployment that was never opened does not say how to create its input: %s", p.Output())
	}
}

// TestRefuseAChangelogThatWasDeleted checks the advice for a deleted changelog. The message once advised `oriel
// topics`, which created an empty changelog and reported the deployment as ready.
func TestRefuseAChangelogThatWasDeleted(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	running := f.HasTakenTen()
	f.deleteTopic(f.Topic("changelog"))
	for _, p := range []*servicetest.Process{running, f.Start(nil, "run"), f.Start(nil, "topics")} {
		if p.Finish(time.Minute) || !strings.Contains(p.Output(), "the state of this deployment is lost") || strings.Contains(p.Output(), "Run `oriel topics`") {
			t.Errorf("%v does not say what is lost: %s", p.Cmd.Args[1:], p.Output())
		}
	}
}

// TestDecisionsThatWereDeletedAreMissed checks that all commands report a deleted decision topic at once and with the
// same text. A user who followed the advice "run `oriel topics`" once got another message.
func TestDecisionsThatWereDeletedAreMissed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Must("topics")
	s := f.inside(func(*service.Host) {})
	f.Send(0, servicetest.Events(0, 10)...)
	f.AwaitTaken(time.Minute, 10)
	f.deleteTopic(f.Topic("decisions"))
	texts := []string{
		"has published decisions: its decisions are lost", "Bring the topic back from a backup", "privacy loss adds",
		"ORIEL_NAME",
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
	f.Await(10*time.Second, "/readyz doubts it", func() bool { return strings.Contains(s.ready(), texts[0]) })
	says("/readyz", s.ready())
	select {
	case err := <-s.done:
		says("run", err.Error())
	case <-time.After(time.Minute):
		t.Fatal("the service goes on without its decisions")
	}
	for _, command := range []string{"topics", "run"} {
		p := f.Start(nil, command)
		if p.Finish(time.Minute) {
			t.Errorf("%s goes on without the decisions", command)
		}
		says(command, p.Output())
	}
	f.CreateTopic(f.Topic("decisions"), 1, map[string]string{"max.message.bytes": "8388608"})
	p := f.Start(nil, "run")
	if p.Finish(time.Minute) {
		t.Error("run goes on with a topic that was made again")
	}
	p.Says("was deleted and made again, or lost records", "Bring it back from a backup", "privacy loss adds")
}
