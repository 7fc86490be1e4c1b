package service_test

import (
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/decision"
)

// TestANewDeploymentMustChooseItsStreams checks that ORIEL_STREAM is required if the input has several partitions. If
// settings are refused, no topic may be created or extended, because partitions cannot be removed from a topic.
func TestANewDeploymentMustChooseItsStreams(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 3, nil)
	kinds := []string{"decisions", "verdicts", "changelog", "order", "dead-letter"}
	partitions := func() (counts [5]int) {
		t.Helper()
		for i, kind := range kinds {
			cluster, err := topics.Describe(f.Ctx(), f.Client, f.Topic(kind))
			if err != nil {
				t.Fatal(err)
			}
			counts[i] = cluster.Topics[f.Topic(kind)].Partitions
		}
		return counts
	}
	refused := func(made [5]int, want ...string) {
		t.Helper()
		p := f.Start(nil, "topics")
		if p.Finish(time.Minute) {
			t.Errorf("not refused: %s", p.Output())
		}
		for _, text := range want {
			if !strings.Contains(p.Output(), text) {
				t.Errorf("%q is not said: %s", text, p.Output())
			}
		}
		if got := partitions(); got != made {
			t.Errorf("topics %v have %v partitions, want %v", kinds, got, made)
		}
	}
	f.Env["ORIEL_STREAM"] = ""
	refused([5]int{}, "ORIEL_STREAM is not set", "has 3 partitions", "ORIEL_STREAM=topic", "ORIEL_STREAM=partition")
	f.Env["ORIEL_STREAM"] = "topic"
	if out := f.Must("topics"); !strings.Contains(out, "one stream, "+f.Name+".events, of partitions: 3") {
		t.Error(out)
	}
	one := [5]int{1, 1, 1, 1, 1}
	if got := partitions(); got != one {
		t.Errorf("topics %v have %v partitions, want %v", kinds, got, one)
	}
	f.growInput(4) // the new partition becomes part of the stream
	f.Must("topics")
	for _, other := range []string{"", "partition"} {
		f.Env["ORIEL_STREAM"] = other
		refused(one, "the configuration differs", "ORIEL_STREAM")
	}
	g := newFixture(t, 2, nil)
	g.Must("topics")
	f, g.Env["ORIEL_STREAM"] = g, "topic"
	refused([5]int{2, 2, 2, 0, 2}, "the configuration differs", "ORIEL_STREAM")
}

// TestOnePartitionNeedsNoChoice checks that a deployment on one partition works without ORIEL_STREAM.
func TestOnePartitionNeedsNoChoice(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 1, nil)
	f.Env["ORIEL_STREAM"] = ""
	if out := f.Must("topics"); !strings.Contains(out, "partitions: 1, each a stream") {
		t.Error(out)
	}
}

// TestOneStreamTakesAllPartitions covers a stream of a whole topic, with partitions that are added while it runs, and
// users with events in several partitions. Added partitions must not need `oriel topics`, and the service must not
// stop.
func TestOneStreamTakesAllPartitions(t *testing.T) {
	t.Parallel()
	f := newFixture(t, 3, map[string]string{
		"ORIEL_STREAM": "topic", "ORIEL_USER_ID": "key", "ORIEL_USER_SEPARATION": "2",
	})
	f.Must("topics")
	running := f.Start(nil, "run")
	taken := func(n int) {
		t.Helper()
		f.Await(time.Minute, "decisions of all partitions", func() bool {
			return len(f.Read(f.Topic("decisions"), 0, false)) == n
		})
	}
	send := func(partition int32) {
		t.Helper()
		events := servicetest.Events(0, 10)
		for i := range events {
			events[i].Key = []byte("a user")
		}
		f.Send(partition, events...)
	}
	for p := range int32(3) {
		send(p)
	}
	taken(30)
	f.growInput(4)
	send(3)
	taken(40)
	running.Terminate()
	decisions := f.Read(f.Topic("decisions"), 0, false)
	for i, r := range decisions {
		d, err := decision.Parse(r.Value)
		if err != nil || d.Stream != f.Env["ORIEL_INPUT_TOPIC"] || d.Step != uint64(i)+1 {
			t.Fatalf("decision %d is of step %d of %q: %v", i, d.Step, d.Stream, err)
		}
	}
}
