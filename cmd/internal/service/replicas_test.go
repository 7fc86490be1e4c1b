//go:build !kafka

package service_test

import (
	"fmt"
	"testing"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/brokertest"
)

// TestRefuseAnInputThatOneBrokerCanLose checks that the input is durable, because a single history requires that
// acknowledged events are never lost. On three brokers, an input that was less durable than Oriel's own topics was once
// accepted without a message.
func TestRefuseAnInputThatOneBrokerCanLose(t *testing.T) {
	t.Parallel()
	broker := brokertest.Embedded(t, embedded.Options{Brokers: 3})
	f := &fixture{servicetest.NewAt(t, broker.Addr(), 1, map[string]string{"ORIEL_ALLOW_SINGLE_REPLICA": "false"})}
	single := f.Env["ORIEL_INPUT_TOPIC"] // the fixture created this input with one replica
	f.Fails(fmt.Sprintf("input topic %q has 1 replicas, want 3", single), "topics")
	f.Fails("ORIEL_ALLOW_SINGLE_REPLICA", "run")

	f.Env["ORIEL_INPUT_TOPIC"] = f.Name + ".durable"
	f.Must("topics", "--input-partitions", "1")
	f.Send(0, servicetest.Events(0, 20)...)
	f.take(20)
	for setting, bad := range map[string]string{
		"min.insync.replicas": "1", "unclean.leader.election.enable": "true", "cleanup.policy": "compact",
	} {
		good := map[string]string{
			"min.insync.replicas": "2", "unclean.leader.election.enable": "false", "cleanup.policy": "delete",
		}[setting]
		f.alter(f.Env["ORIEL_INPUT_TOPIC"], setting, bad)
		f.Refused(nil, fmt.Sprintf("input topic %q has %s=%s, want %s", f.Env["ORIEL_INPUT_TOPIC"], setting, bad, good))
		f.alter(f.Env["ORIEL_INPUT_TOPIC"], setting, good)
	}
	f.goesOn(20)
}

func (f *fixture) alter(topic, setting, value string) {
	f.T.Helper()
	if err := topics.Alter(f.Ctx(), f.Client, topic, map[string]string{setting: value}); err != nil {
		f.T.Fatal(err)
	}
}
