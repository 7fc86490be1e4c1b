package operatortest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"oriel/operators"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/pipeline/replay"
	"oriel/schemas/decision"
)

// service consumes the log in a whole service with a broker, inside a synctest bubble; some of its processes die. The
// committed decisions must be the story's, each once, and equal those that `oriel replay --check` computes. The noise
// comes from the service's own secret, so the numbers of decisions differ from the story's.
func (s *story) service(t *testing.T, c *datadriven.TestData) string {
	points, _ := c.Arg("kill")
	checked := 0
	synctest.Test(t, func(t *testing.T) { checked = s.serve(t, points.Vals) })
	return fmt.Sprintf("%d processes; %d records, %d decisions, each once; %d are those of a replay",
		len(points.Vals)+1, len(s.log), len(s.decisions), checked)
}

// handover is longer than the time in which a group removes a dead member, 6 s, plus the time of a take-over. calm is
// longer than a process needs to consume the log.
const handover, calm = 12 * time.Second, 4 * time.Second

func (s *story) serve(t *testing.T, points []string) (checked int) {
	t.Helper()
	setup, d := pipetest.NewSetup(), simtest.New(t)
	// unlimited, because records of stories have no timestamps
	setup.InputSettings = map[string]string{"retention.ms": "-1"}
	setup.Model = s.model
	operator := s.model.Learner.Operator()
	if output := operators.SecondTopicOf(operator); output != nil {
		setup.Config.Second = setup.Config.Name + "." + output.Suffix
	}
	if operators.DescriptorOf(operator) != nil {
		setup.Config.Descriptor = setup.Config.Name + ".descriptor"
	}
	if err := setup.Prepare(t.Context(), d.Client(), 1); err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, m *simtest.Member) error { return setup.Run(ctx, m) }
	member := d.Start("0", simtest.NewDisk(), run)
	time.Sleep(calm)
	checkpoint := s.checkpoint(t, setup, d)
	rest := make([]records.Record, len(s.log))
	for i, l := range s.log {
		rest[i] = l.record
	}
	for i, point := range points {
		now := len(rest) / (len(points) + 1 - i)
		member.KillAt(notice.Point(point), 1)
		s.send(t, setup, d, rest[:now])
		rest = rest[now:]
		time.Sleep(calm)
		if member.Alive() {
			t.Fatalf("process %d lives on: it has not been at %q", i, point)
		}
		member = d.Start(fmt.Sprint(i+1), member.Disk(), run)
		time.Sleep(handover)
	}
	s.send(t, setup, d, rest)
	time.Sleep(calm)
	if err := member.Stop(); err != nil {
		t.Fatal(err)
	}
	s.published(t, setup, d)
	deployment, err := setup.Deployment(t.Context(), d.Client())
	if err == nil {
		checked, err = replay.Check(t.Context(), deployment, 0, checkpoint, func(int) {})
	}
	if err != nil {
		t.Fatal(err)
	}
	return checked
}

func (s *story) checkpoint(t *testing.T, setup pipetest.Setup, d *simtest.Deployment) []byte {
	t.Helper()
	deployment, err := setup.Deployment(t.Context(), d.Client())
	if err != nil {
		t.Fatal(err)
	}
	checkpoint, err := replay.Checkpoint(t.Context(), deployment, 0)
	if err != nil {
		t.Fatal(err)
	}
	return checkpoint
}

func (s *story) send(t *testing.T, setup pipetest.Setup, d *simtest.Deployment, records []records.Record) {
	t.Helper()
	if err := logtest.Send(t.Context(), d.Client(), setup.Config.Input, 0, records...); err != nil {
		t.Fatal(err)
	}
}

// published checks that the topics have the decisions of the story: their number, order, indices, steps and keys.
func (s *story) published(t *testing.T, setup pipetest.Setup, d *simtest.Deployment) {
	t.Helper()
	shape := func(key, line string) string {
		t.Helper()
		decision, err := decision.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d of step %d, key %s, of %d", decision.Index, decision.Step, key, len(decision.Point))
	}
	for output, topic := range []string{setup.Config.Decisions, setup.Config.Second} {
		if topic == "" {
			continue
		}
		records, err := logtest.Read(t.Context(), d.Client(), topic, 0, -1, fetch.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var got, want []string
		for _, r := range records {
			got = append(got, shape(string(r.Key), string(r.Value)))
		}
		for _, p := range s.decisions {
			if int(p.output) == output {
				want = append(want, shape(p.key, p.line))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("topic %s has %q, the story %q", topic, got, want)
		}
	}
}
