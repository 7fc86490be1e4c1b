package service_test

import (
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kgo"

	"oriel/cmd/internal/service"
)

// consumer joins a plain consumer of the input to the deployment's group, and commits nothing. It stands for a consumer
// with a wrong group name, or for a version whose members have no mark.
func (f *fixture) consumer(client string) *kgo.Client {
	f.T.Helper()
	c, err := kgo.NewClient(
		kgo.SeedBrokers(f.Env["ORIEL_BROKERS"]), kgo.ClientID(client), kgo.ConsumerGroup(f.Name),
		kgo.ConsumeTopics(f.Env["ORIEL_INPUT_TOPIC"]),
		kgo.Balancers(kgo.RangeBalancer()), kgo.DisableAutoCommit(), kgo.HeartbeatInterval(300*time.Millisecond),
	)
	if err != nil {
		f.T.Fatal(err)
	}
	f.T.Cleanup(c.Close)
	return c
}

// TestAForeignMemberGetsNothing adds a plain consumer to the group, which must get no partition. Such a consumer was
// once assigned a partition: no service consumed the partition's events, while /readyz reported ready.
func TestAForeignMemberGetsNothing(t *testing.T) {
	t.Parallel()
	f, s := twoAtWork(t)
	f.Await(10*time.Second, "ready while alone", func() bool { return s.ready() == "ready\n" })

	c := f.consumer("mistaken")
	s.says("has a member that is not of this deployment, client \\\"mistaken\\\"")
	f.Await(10*time.Second, "/readyz shows the foreign member, and is ready", func() bool {
		page := s.ready()
		return strings.HasPrefix(page, "ready\n") && strings.Contains(page, "has a member that is not of this deployment") &&
			!strings.Contains(page, "no process of this deployment has")
	})
	f.sendAll(10, 10)
	f.AwaitTaken(20*time.Second, 20, 20)
	c.Close()
	s.says("belong to this deployment again")
	f.Await(10*time.Second, "ready when alone again", func() bool { return s.ready() == "ready\n" })
	s.endsWell()
}

// TestAForeignLeaderIsNoticed covers a group whose leader is a plain consumer. The leader may assign partitions to any
// member, so the service must name the partitions that no service of this deployment has.
func TestAForeignLeaderIsNoticed(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 2, nil)
	f.Must("topics")
	f.sendAll(0, 10)
	c := f.consumer("mistaken")
	for got := 0; got < 20; { // reads until the consumer has all partitions
		fetched := c.PollFetches(f.Ctx())
		if err := fetched.Err(); err != nil {
			t.Fatal(err)
		}
		got += fetched.NumRecords()
	}
	s := f.inside(func(*service.Host) {})
	s.says("no process of this deployment has the partitions")
	page := s.ready()
	if !strings.Contains(page, "partitions [0]") && !strings.Contains(page, "partitions [1]") {
		t.Errorf("/readyz says %q: want it to name the partition that the foreign member has", page)
	}
	c.Close()
	f.AwaitTaken(20*time.Second, 10, 10)
	s.says("belong to this deployment again")
	s.endsWell()
}
