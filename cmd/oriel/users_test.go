package main

import (
	"strings"
	"testing"
	"time"

	"oriel/pipeline/kafka"
)

// TestUsersAreKeptApart: an event too close to its user's last one, or of nobody, takes its place as a null event with
// its reason; a malformed event has had its user's turn; kills and restarts change nothing.
func TestUsersAreKeptApart(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, byUser)
	f.must("topics")
	records := crowd(300)
	const parts = 3
	for i := range parts {
		f.send(0, records[i*100:(i+1)*100]...)
		p := f.start(nil, "run")
		f.awaitTaken(time.Minute, int64(i+1)*100)
		if i == 0 {
			_ = p.cmd.Process.Kill()
			<-p.done
		} else {
			p.terminate()
		}
	}
	f.checkHistory(0, len(records))
	got, want := reasons(f.letters(0)), expected(records, 5)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("dead letters:\n%q, want\n%q", got, want)
	}
	for _, reason := range []string{"too_soon", "no_user", "json_syntax", "too_large"} {
		if !strings.Contains(strings.Join(want, "\n"), reason) {
			t.Errorf("no record of the test is %s", reason)
		}
	}
	f.must("replay", "--check", "--from", f.checkpointOf(records[:200]))
}

// checkpointOf saves the state, sends records again, and takes them: what replay --check then compares.
func (f *fixture) checkpointOf(records []kafka.Record) (path string) {
	f.t.Helper()
	path = f.t.TempDir() + "/checkpoint"
	f.must("replay", "--save", path)
	f.send(0, records...)
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, 300+int64(len(records)))
	p.terminate()
	return path
}

// TestUserInTwoPartitionsStopsTheService: the printed guarantee counts one partition a user.
func TestUserInTwoPartitionsStopsTheService(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, byUser)
	f.must("topics")
	f.send(0, of("ann", event(0)), of("bob", event(1)))
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, 2)
	f.send(1, of("cid", event(2)), of("bob", event(3)), of("dan", event(4)))
	if p.finish(time.Minute) {
		t.Fatalf("the service ended well: %s", p.output())
	}
	for _, text := range []string{"one user has events in partitions 0 and 1", "Key the input by user"} {
		if !strings.Contains(p.output(), text) {
			t.Errorf("the message does not say %q", text)
		}
	}
	if strings.Contains(p.output(), "bob") {
		t.Error("the message names the user")
	}
	if n := len(f.read(f.topic("decisions"), 1, true)); n > 1 {
		t.Errorf("%d decisions of partition 1, one event precedes the conflict", n)
	}
	for range 3 { // whichever partition is taken over first
		f.refused(nil, "one user has events in partitions 0 and 1")
	}
	if n := len(f.read(f.topic("decisions"), 1, true)); n > 1 {
		t.Errorf("%d decisions of partition 1 after restarts", n)
	}
}

// TestUserInPartitionsIsFoundWhenSeenAgain: a user whose separation has just passed is forgotten and remembered in one
// step.
func TestUserInPartitionsIsFoundWhenSeenAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, byUser)
	f.must("topics")
	for i, user := range []string{"ann", "bob", "cid", "dan", "eve", "ann"} {
		f.send(0, of(user, event(i)))
	}
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, 6)
	f.send(1, of("ann", event(6)))
	if p.finish(time.Minute) || !strings.Contains(p.output(), "one user has events in partitions 0 and 1") {
		t.Fatalf("not found: %s", p.output())
	}
}

// TestUserInPartitionsIsFoundWhenOneHasStopped: a parked partition still remembers.
func TestUserInPartitionsIsFoundWhenOneHasStopped(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, map[string]string{
		"ORIEL_USER_ID": "key", "ORIEL_USER_SEPARATION": "5", "ORIEL_MECHANISM": "blt", "ORIEL_WINDOW": "horizon",
		"ORIEL_HORIZON": "2",
	})
	f.must("topics")
	f.send(0, of("ann", event(0)), of("bob", event(1)), of("cid", event(2)))
	p := f.start(nil, "run")
	f.await(time.Minute, "partition 0 is at its horizon", func() bool {
		return strings.Contains(p.output(), "horizon is reached")
	})
	f.send(1, of("ann", event(3)))
	if p.finish(time.Minute) || !strings.Contains(p.output(), "one user has events in partitions 0 and 1") {
		t.Fatalf("not found: %s", p.output())
	}
}

// TestUserInPartitionsOfTwoProcessesStopsThem: a process knows whom others remember.
func TestUserInPartitionsOfTwoProcessesStopsThem(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, byUser)
	f.must("topics")
	f.send(0, of("ann", event(0)), of("bob", event(1)))
	f.send(1, of("cid", event(2)))
	first := f.start(nil, "run")
	f.awaitTaken(time.Minute, 2, 1)
	second := f.start(map[string]string{"ORIEL_STATE_DIR": t.TempDir()}, "run")
	running := func(p *process) bool { return strings.Contains(p.output(), `msg="partitions assigned" partitions=[`) }
	f.await(time.Minute, "the second process has a partition", func() bool { return running(second) })
	f.send(1, of("bob", event(3)))
	f.send(0, of("ann", event(4)))
	f.await(time.Minute, "one of them stops", func() bool {
		return strings.Contains(first.output()+second.output(), "one user has events in partitions 0 and 1")
	})
}

// TestUserOfAHeader: the record key is then any, and a record with two such headers names nobody.
func TestUserOfAHeader(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{"ORIEL_USER_ID": "header:person", "ORIEL_USER_SEPARATION": "3"})
	f.must("topics")
	var records []kafka.Record
	for i, people := range []string{"a", "b", "a", "", "a b", "a", "b"} {
		r := event(i)
		var headers []kafka.Header
		for _, person := range strings.Fields(people) {
			headers = append(headers, kafka.Header{Key: "person", Value: []byte(person)})
		}
		r.Headers = kafka.HeadersOf(headers...)
		records = append(records, of("one key", r))
	}
	f.send(0, records...)
	p := f.start(nil, "run")
	f.awaitTaken(time.Minute, 7)
	p.terminate()
	if got, want := strings.Join(reasons(f.letters(0)), "; "), "2 too_soon; 3 no_user; 4 no_user"; got != want {
		t.Errorf("dead letters %q, want %q", got, want)
	}
}
