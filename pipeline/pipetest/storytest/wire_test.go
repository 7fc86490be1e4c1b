package storytest

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/pipetest/logtest"
	"oriel/pipeline/pipetest/simtest"
	"oriel/schemas/decision"
)

func (s *story) fail(t *testing.T, c *datadriven.TestData) string {
	fault := simtest.Fault{Kind: simtest.Kind{Partition: simtest.AnyPartition}}
	var effect, delay string
	var of int
	c.MaybeScanArgs(t, "member", &fault.Kind.Member)
	c.MaybeScanArgs(t, "api", &fault.Kind.API)
	c.MaybeScanArgs(t, "topic", &fault.Kind.Topic)
	if c.MaybeScanArgs(t, "partition", &of) {
		fault.Kind.Partition = int32(of)
	}
	c.MaybeScanArgs(t, "skip", &fault.Skip)
	c.MaybeScanArgs(t, "count", &fault.Count)
	c.MaybeScanArgs(t, "delay", &delay)
	c.ScanArgs(t, "effect", &effect)
	code, errCode := strconv.Atoi(effect)
	late, errLate := time.ParseDuration(delay)
	switch {
	case effect == "lost":
		fault.Effect = simtest.Lost
	case effect == "cut":
		fault.Effect = simtest.Cut
	case effect == "late" && errLate == nil:
		fault.Effect = simtest.Late(late)
	case errCode == nil:
		fault.Effect = simtest.Refused(kafka.Code(code))
	default:
		c.Fatalf(t, "no such effect")
	}
	s.Fail(fault)
	return ""
}

func (s *story) mend(*testing.T, *datadriven.TestData) string {
	s.Mend()
	return ""
}

// ofTransactions lists the requests of a transaction, and of the take-over before it.
var ofTransactions = []string{
	"InitProducerID", "AddPartitionsToTxn", "Produce", "AddOffsetsToTxn", "TxnOffsetCommit",
	"EndTxn",
}

// requests lists requests without times and sizes, because these change whenever a part of the service makes another
// request.
func (s *story) requests(_ *testing.T, c *datadriven.TestData) string {
	apis := ofTransactions
	if given, ok := c.Arg("api"); ok {
		apis = given.Vals
	}
	all := s.Requests()
	var lines strings.Builder
	for _, r := range all[s.told:] {
		if slices.Contains(apis, r.API) && (!s.whole || r.Topic != s.setup.Config.Order) {
			fmt.Fprintf(&lines, "%s %s %s/%d %s\n", r.Member, r.API, r.Topic, r.Partition, r.Outcome)
		}
	}
	s.told = len(all)
	return lines.String()
}

// decided matches the decision of a blind machine: its index, and the offset of its record.
var decided = regexp.MustCompile(`"decision":\[(\d+),(\d+)\]`)

func (s *story) decisions(t *testing.T, c *datadriven.TestData) string {
	o := fetch.Options{Uncommitted: c.HasArg("uncommitted")}
	topic := s.setup.Config.Decisions
	if c.HasArg("second") {
		topic = s.setup.Config.Second
	}
	records, err := logtest.Read(t.Context(), s.Client(), topic, partition(t, c), -1, o)
	if err != nil {
		c.Fatalf(t, "%v", err)
	}
	var line []string
	for _, r := range records {
		if d, err := decision.Parse(r.Value); err == nil && d.Step == 0 {
			line = append(line, fmt.Sprintf("%d owed", d.Index)) // a decision due before the first event
			continue
		}
		of := decided.FindSubmatch(r.Value)
		if of == nil {
			c.Fatalf(t, "no decision of a blind machine: %s", r.Value)
		}
		line = append(line, fmt.Sprintf("%s of %s", of[1], of[2]))
	}
	return strings.Join(line, ", ")
}
