package storytest

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"

	"oriel/mechanisms/protection"
	"oriel/pipeline/kafka/group"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest"
	"oriel/pipeline/replay"
	"oriel/pipeline/streams"
)

// shape changes the deployment before its topics are made.
func (s *story) shape(t *testing.T, c *datadriven.TestData) {
	var plays, owes, horizon, users int
	if c.MaybeScanArgs(t, "plays", &plays) {
		s.setup = s.setup.SecondTopic(uint64(plays))
	}
	if c.MaybeScanArgs(t, "owes", &owes) {
		s.setup = s.setup.Owing(owes, uint64(plays))
	}
	if c.MaybeScanArgs(t, "horizon", &horizon) {
		s.setup = ending(s.setup, uint64(horizon))
	}
	if c.MaybeScanArgs(t, "users", &users) {
		s.setup.Model.Users = &streams.Users{Separation: uint64(users), Batch: 1}
	}
}

// tear commits some parts of a dead process's transaction: of the records sent since watch noted the ends of the
// topics.
func (s *story) tear(t *testing.T, c *datadriven.TestData) string {
	parts, _ := c.Arg("parts")
	committed := slices.Collect(func(yield func(pipetest.Part) bool) {
		for _, p := range parts.Vals {
			if !yield(pipetest.Part(p)) {
				return
			}
		}
	})
	other := pipetest.Whatever
	if c.HasArg("forged") {
		other = forged
	}
	torn := s.torn[partition(t, c)]
	if err := torn.Commit(t.Context(), committed, other); err != nil {
		c.Fatalf(t, "%v", err)
	}
	if m := s.members[c.CmdArgs[0].Key]; c.HasArg("followed") {
		if err := torn.Follow(t.Context(), m.Disk()); err != nil {
			c.Fatalf(t, "%v", err)
		}
	}
	return ""
}

// forged returns decisions with other contents.
func forged(part pipetest.Part, r records.Record) []byte {
	if part != pipetest.Decisions {
		return nil
	}
	return regexp.MustCompile(`"decision":\[\d+`).ReplaceAll(r.Value, []byte(`"decision":[99`))
}

// watch records for tear where the topics end before the transaction during which a process will die.
func (s *story) watch(t *testing.T, c *datadriven.TestData) {
	for p := range s.setup.Config.Streams(topics.Topic{Partitions: s.partitions}) {
		p := int32(p)
		torn, err := s.setup.Tear(t.Context(), s.Client(), p)
		if err != nil {
			c.Fatalf(t, "%v", err)
		}
		s.torn[p] = torn
	}
}

func (s *story) reset(t *testing.T, c *datadriven.TestData) string {
	var to int
	c.ScanArgs(t, "to", &to)
	if err := group.AlterOffset(t.Context(), s.Client(), s.setup.Config.Group, s.setup.Config.Input, partition(t, c),
		int64(to)); err != nil {
		c.Fatalf(t, "%v", err)
	}
	return ""
}

func (s *story) delete(t *testing.T, c *datadriven.TestData) string {
	var topic string
	var before int
	c.ScanArgs(t, "topic", &topic)
	c.ScanArgs(t, "before", &before)
	if err := topics.DeleteRecords(t.Context(), s.Client(), topic, partition(t, c), int64(before)); err != nil {
		c.Fatalf(t, "%v", err)
	}
	return ""
}

// upgrade starts later processes with other semantics: they decode records differently.
func (s *story) upgrade(*testing.T, *datadriven.TestData) string {
	s.setup.Model.Semantics++
	return ""
}

func (s *story) save(t *testing.T, c *datadriven.TestData) string {
	d, err := s.setup.Deployment(t.Context(), s.Client())
	if err == nil {
		s.checkpoint, err = replay.Checkpoint(t.Context(), d, partition(t, c))
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

func (s *story) check(t *testing.T, c *datadriven.TestData) string {
	d, err := s.setup.Deployment(t.Context(), s.Client())
	if err != nil {
		c.Fatalf(t, "%v", err)
	}
	n, err := replay.Check(t.Context(), d, partition(t, c), s.checkpoint, func(int) {})
	return fmt.Sprintf("%d equal, %v", n, err)
}

// ending returns the deployment with streams that end after horizon steps.
func ending(s pipetest.Setup, horizon uint64) pipetest.Setup {
	end := s.States()
	end.Scope = protection.Lifetime{Steps: horizon, Within: horizon}
	return s.With(pipetest.Blind{States: end})
}
