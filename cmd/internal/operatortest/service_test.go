package operatortest

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/datadriven"

	"oriel/cmd/internal/service"
	"oriel/cmd/internal/servicetest"
	"oriel/operators"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/notice"
	"oriel/pipeline/pipetest/simtest"
	"oriel/schemas/decision"
)

// service consumes the log in a whole service with a broker, inside a synctest bubble; some of its processes die. The
// committed decisions must be the story's, each once, and equal those that `oriel replay --check` computes. The noise
// comes from the service's own secret, so the numbers of decisions differ from the story's.
func (s *story) service(t *testing.T, c *datadriven.TestData) string {
	points, _ := c.Arg("kill")
	checked := 0
	synctest.Test(t, func(t *testing.T) { checked = s.serve(t, points.Vals) })
	return fmt.Sprintf("%d processes; %d records, %d decisions, each once; %d equal a replay",
		len(points.Vals)+1, len(s.log), len(s.decisions), checked)
}

// handover is longer than the time in which a group removes a dead member, 6 s, plus the time of a take-over. calm is
// longer than a process needs to consume the log.
const handover, calm = 12 * time.Second, 4 * time.Second

func (s *story) serve(t *testing.T, points []string) (checked int) {
	t.Helper()
	d := servicetest.NewBubble(t, simtest.New(t), s.env, nil)
	d.Create(1, map[string]string{"retention.ms": "-1"}) // unlimited, because records of stories have no timestamps
	process := d.Start("0", simtest.NewDisk(), service.Run)
	time.Sleep(calm)
	checkpoint := filepath.Join(t.TempDir(), "checkpoint")
	d.Must("save", func(ctx context.Context, h service.Host) error { return h.SaveCheckpoint(ctx, 0, checkpoint) })
	rest := make([]records.Record, len(s.log))
	for i, l := range s.log {
		rest[i] = l.record
	}
	for i, point := range points {
		now := len(rest) / (len(points) + 1 - i)
		process.KillAt(notice.Point(point), 1)
		d.Send(0, rest[:now]...)
		rest = rest[now:]
		time.Sleep(calm)
		if process.Alive() {
			t.Fatalf("process %d lives on: it has not been at %q", i, point)
		}
		process = d.Start(fmt.Sprint(i+1), process.Disk(), service.Run)
		time.Sleep(handover)
	}
	d.Send(0, rest...)
	time.Sleep(calm)
	if err := process.Stop(); err != nil {
		t.Fatalf("%v: %s", err, process.Out)
	}
	s.published(t, d)
	d.Must("check", func(ctx context.Context, h service.Host) (err error) {
		checked, err = h.CheckDecisions(ctx, 0, checkpoint, func(int) {})
		return err
	})
	return checked
}

// published checks that the topics have the decisions of the story: their number, order, indices, steps and keys.
func (s *story) published(t *testing.T, d *servicetest.Bubble) {
	t.Helper()
	shape := func(key, line string) string {
		t.Helper()
		decision, err := decision.Parse([]byte(line))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d of step %d, key %s, of %d", decision.Index, decision.Step, key, len(decision.Point))
	}
	topics := []string{"decisions"}
	if output := operators.SecondTopicOf(s.model.Learner.Operator()); output != nil {
		topics = append(topics, output.Suffix)
	}
	for output, topic := range topics {
		var got, want []string
		for _, r := range d.Read(d.Topic(topic), 0, false) {
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
