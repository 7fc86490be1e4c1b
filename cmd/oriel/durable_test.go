//go:build !kafka

package main

import (
	"fmt"
	"testing"

	"oriel/pipeline/embedded"
)

// TestRefuseAnInputThatOneBrokerCanLose: that acknowledged events stay is what one history rests on. On three brokers,
// an input that is less durable than our own topics was once accepted without a word.
func TestRefuseAnInputThatOneBrokerCanLose(t *testing.T) {
	t.Parallel()
	broker, err := embedded.Start(embedded.Options{Dir: t.TempDir(), Brokers: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broker.Close)
	f := fixtureAt(t, broker.Addr(), 1, map[string]string{"ORIEL_ALLOW_SINGLE_REPLICA": "false"})
	single := f.env["ORIEL_INPUT_TOPIC"] // the fixture made it with one replica
	f.fails(fmt.Sprintf("input topic %q has 1 replicas, want 3", single), "topics")
	f.fails("ORIEL_ALLOW_SINGLE_REPLICA", "run")

	f.env["ORIEL_INPUT_TOPIC"] = f.name + ".durable"
	f.must("topics", "--input-partitions", "1")
	f.send(0, events(0, 20)...)
	f.take(20)
	for setting, bad := range map[string]string{
		"min.insync.replicas": "1", "unclean.leader.election.enable": "true", "cleanup.policy": "compact",
	} {
		good := map[string]string{
			"min.insync.replicas": "2", "unclean.leader.election.enable": "false", "cleanup.policy": "delete",
		}[setting]
		f.alter(f.env["ORIEL_INPUT_TOPIC"], setting, bad)
		f.refused(nil, fmt.Sprintf("input topic %q has %s=%s, want %s", f.env["ORIEL_INPUT_TOPIC"], setting, bad, good))
		f.alter(f.env["ORIEL_INPUT_TOPIC"], setting, good)
	}
	f.goesOn(20)
}

func (f *fixture) alter(topic, setting, value string) {
	f.t.Helper()
	if err := f.client.AlterTopic(f.ctx(), topic, map[string]string{setting: value}); err != nil {
		f.t.Fatal(err)
	}
}
