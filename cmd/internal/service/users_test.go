package service_test

import (
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
)

// TestEventsOfAUserAreSeparated checks user-level privacy. An event too close to the user's previous one, or without a
// user, must stay in its place as a null event with a reason. A malformed event counts as an event of its user. Kills
// and restarts must not change the result.
func TestEventsOfAUserAreSeparated(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, servicetest.ByUser)
	f.Must("topics")
	records := servicetest.OfNineUsers(300)
	const parts = 3
	for i := range parts {
		f.Send(0, records[i*100:(i+1)*100]...)
		p := f.Start(nil, "run")
		f.AwaitTaken(time.Minute, int64(i+1)*100)
		if i == 0 {
			_ = p.Cmd.Process.Kill()
			<-p.Done
		} else {
			p.Terminate()
		}
	}
	f.CheckHistory(0, len(records))
	got, want := servicetest.Reasons(f.Letters(0)), servicetest.Expected(records, 5)
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("dead letters:\n%q, want\n%q", got, want)
	}
	for _, reason := range []string{"too_soon", "no_user", "json_syntax", "too_large"} {
		if !strings.Contains(strings.Join(want, "\n"), reason) {
			t.Errorf("no record of the test is %s", reason)
		}
	}
	f.Must("replay", "--check", "--from", f.checkpointOf(records[:200]))
}

// checkpointOf saves the state as a checkpoint, then sends more records and waits until they are consumed, so that
// replay --check can compare them. It returns the checkpoint's path.
func (f *fixture) checkpointOf(records []records.Record) (path string) {
	f.T.Helper()
	path = f.T.TempDir() + "/checkpoint"
	f.Must("replay", "--save", path)
	f.Send(0, records...)
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 300+int64(len(records)))
	p.Terminate()
	return path
}

// TestUserInTwoPartitionsStopsTheService checks that the service stops if a user has events in two partitions, because
// the stated guarantee assumes one partition for each user.
func TestUserInTwoPartitionsStopsTheService(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, servicetest.ByUser)
	f.Must("topics")
	f.Send(0, servicetest.OfUser("ann", servicetest.Event(0)), servicetest.OfUser("bob", servicetest.Event(1)))
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 2)
	f.Send(1, servicetest.OfUser("cid", servicetest.Event(2)), servicetest.OfUser("bob", servicetest.Event(3)),
		servicetest.OfUser("dan", servicetest.Event(4)))
	if p.Finish(time.Minute) {
		t.Fatalf("the service ended well: %s", p.Output())
	}
	for _, text := range []string{"one user has events in partitions 0 and 1", "Key the input by user"} {
		if !strings.Contains(p.Output(), text) {
			t.Errorf("the message does not say %q", text)
		}
	}
	if strings.Contains(p.Output(), "bob") {
		t.Error("the message names the user")
	}
	if n := len(f.Read(f.Topic("decisions"), 1, true)); n > 1 {
		t.Errorf("%d decisions of partition 1, one event precedes the conflict", n)
	}
	for range 3 { // repeated, because either partition may be taken over first
		f.RefusedAtWork(nil, "one user has events in partitions 0 and 1")
	}
	if n := len(f.Read(f.Topic("decisions"), 1, true)); n > 1 {
		t.Errorf("%d decisions of partition 1 after restarts", n)
	}
}

// TestUserInPartitionsIsFoundWhenSeenAgain covers a user whose separation has just passed, so that one step both
// removes the user from the index and adds the user again. The user's event in another partition must still be found.
func TestUserInPartitionsIsFoundWhenSeenAgain(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, servicetest.ByUser)
	f.Must("topics")
	for i, user := range []string{"ann", "bob", "cid", "dan", "eve", "ann"} {
		f.Send(0, servicetest.OfUser(user, servicetest.Event(i)))
	}
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 6)
	f.Send(1, servicetest.OfUser("ann", servicetest.Event(6)))
	if p.Finish(time.Minute) || !strings.Contains(p.Output(), "one user has events in partitions 0 and 1") {
		t.Fatalf("not found: %s", p.Output())
	}
}

// TestUserInPartitionsIsFoundWhenOneHasStopped checks that the service still compares the users of a stopped partition
// with those of the others.
func TestUserInPartitionsIsFoundWhenOneHasStopped(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, map[string]string{
		"ORIEL_USER_ID": "key", "ORIEL_USER_SEPARATION": "5", "ORIEL_MECHANISM": "blt", "ORIEL_WINDOW": "horizon",
		"ORIEL_HORIZON": "2",
	})
	f.Must("topics")
	f.Send(0, servicetest.OfUser("ann", servicetest.Event(0)), servicetest.OfUser("bob", servicetest.Event(1)),
		servicetest.OfUser("cid", servicetest.Event(2)))
	p := f.Start(nil, "run")
	f.Await(time.Minute, "partition 0 is at its horizon", func() bool {
		return strings.Contains(p.Output(), "horizon is reached")
	})
	f.Send(1, servicetest.OfUser("ann", servicetest.Event(3)))
	if p.Finish(time.Minute) || !strings.Contains(p.Output(), "one user has events in partitions 0 and 1") {
		t.Fatalf("not found: %s", p.Output())
	}
}

// TestUserInPartitionsOfTwoProcessesStopsThem checks that a user with events in partitions of different processes is
// found.
func TestUserInPartitionsOfTwoProcessesStopsThem(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, servicetest.ByUser)
	f.Must("topics")
	f.Send(0, servicetest.OfUser("ann", servicetest.Event(0)), servicetest.OfUser("bob", servicetest.Event(1)))
	f.Send(1, servicetest.OfUser("cid", servicetest.Event(2)))
	first := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 2, 1)
	second := f.Start(map[string]string{"ORIEL_STATE_DIR": t.TempDir()}, "run")
	running := func(p *servicetest.Process) bool {
		return strings.Contains(p.Output(), `msg="partitions assigned" partitions=[`)
	}
	f.Await(time.Minute, "the second process has a partition", func() bool { return running(second) })
	f.Send(1, servicetest.OfUser("bob", servicetest.Event(3)))
	f.Send(0, servicetest.OfUser("ann", servicetest.Event(4)))
	f.Await(time.Minute, "one of them stops", func() bool {
		return strings.Contains(first.Output()+second.Output(), "one user has events in partitions 0 and 1")
	})
}

// TestUserOfAHeader covers users that a header names. The record key is then arbitrary, and a record with two such
// headers names no user.
func TestUserOfAHeader(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, map[string]string{"ORIEL_USER_ID": "header:person", "ORIEL_USER_SEPARATION": "3"})
	f.Must("topics")
	var list []records.Record
	for i, people := range []string{"a", "b", "a", "", "a b", "a", "b"} {
		r := servicetest.Event(i)
		var headers []records.Header
		for _, person := range strings.Fields(people) {
			headers = append(headers, records.Header{Key: "person", Value: []byte(person)})
		}
		r.Headers = records.HeadersOf(headers...)
		list = append(list, servicetest.OfUser("one key", r))
	}
	f.Send(0, list...)
	p := f.Start(nil, "run")
	f.AwaitTaken(time.Minute, 7)
	p.Terminate()
	got, want := strings.Join(servicetest.Reasons(f.Letters(0)), "; "), "2 too_soon; 3 no_user; 4 no_user"
	if got != want {
		t.Errorf("dead letters %q, want %q", got, want)
	}
}
