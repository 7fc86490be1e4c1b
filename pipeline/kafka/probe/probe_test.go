package probe_test

import (
	"errors"
	"testing"

	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/probe"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/brokertest"
)

// TestLookChangesNothing checks that a broker reports its address and the user's rights, and that requests for a
// missing topic or right have no effect. cmd/internal/doctor tests denied rights and the clock on real brokers.
func TestLookChangesNothing(t *testing.T) {
	t.Parallel()
	address := brokertest.Embedded(t, embedded.Options{}).Addr()
	client := brokertest.Client(t, address, kafka.Config{})
	if err := errors.Join(
		probe.Serves(t.Context(), client),
		topics.Create(t.Context(), client, "events", 1, 1, nil),
		probe.MayJoin(t.Context(), client, "group"),
		probe.MayWriteAs(t.Context(), client, "name/0"),
	); err != nil {
		t.Fatal(err)
	}
	if _, err := probe.Clock(t.Context(), client); !errors.Is(err, probe.ErrNoClock) {
		t.Errorf("clock of an embedded broker: %v", err)
	}
	for range 2 { // a topic that was just created appears at the second look
		cluster, err := probe.Look(t.Context(), client, "events", "missing")
		if err != nil || len(cluster.Brokers) != 1 || cluster.Brokers[0].Address != address || len(cluster.Topics) != 1 {
			t.Fatalf("cluster %+v: %v", cluster, err)
		}
		if topic := cluster.Topics["events"]; !topic.Exists || topic.Hidden || topic.Lacks("READ") || topic.Lacks("WRITE") {
			t.Errorf("topic %+v", topic)
		}
		if topic := cluster.Topics["events"]; !topic.Lacks("IDEMPOTENT_WRITE") { // a right that only clusters have
			t.Errorf("a topic gives every right: %+v", topic)
		}
	}
}

// TestUnknownRightsAreNotLacking checks that a broker which reports no rights counts as granting them: an old broker
// refuses only when a right is used.
func TestUnknownRightsAreNotLacking(t *testing.T) {
	if (probe.Topic{Exists: true}).Lacks("READ") {
		t.Error("a right is lacking that nobody denied")
	}
	if !(probe.Topic{Hidden: true}).Lacks("READ") {
		t.Error("a hidden topic may be read")
	}
}
