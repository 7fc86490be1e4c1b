package service_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/decision"
)

// TestDecisionsInEveryEncodingAreServed runs a chain of deployments with different encodings, each of which continues
// from the last decision of its predecessor. It checks that gauges show the published values, and that a deployment
// keeps its encoding.
func TestDecisionsInEveryEncodingAreServed(t *testing.T) {
	t.Parallel()
	const each = 10
	more := forgetting()
	more["ORIEL_DECISION_GAUGES"] = "8"
	f := newFixture(t, 1, more)
	encodings := []decision.Encoding{decision.Protobuf, decision.Avro}
	encodings = tiertest.Runs(encodings, append(encodings, decision.JSON))
	events := servicetest.Events(0, each*len(encodings))
	for i, encoding := range encodings {
		if i > 0 {
			f = f.after(nil)
		}
		f.Env["ORIEL_DECISIONS_FORMAT"] = decision.Encodings[encoding]
		f.Must("topics")
		running := f.Start(nil, "run")
		f.Send(0, events[i*each:][:each]...)
		f.AwaitTaken(time.Minute, int64((i+1)*each))
		decisions := f.points()
		last := decisions[len(decisions)-1]
		gauge := fmt.Sprintf("oriel_decision{coordinate=\"0\",deployment=%q,stream=\"0\"} %v\n", f.Name, last.Point[0])
		f.Await(time.Minute, "the gauge of the last decision", func() bool {
			return strings.Contains(f.Pages(running), gauge)
		})
		running.Terminate()
		if i > 0 {
			running.Says("from its decision of step 10")
		}
		f.CheckHistory(0, each)
		if last.Encoding != encoding {
			t.Errorf("decisions in %s, want %s", decision.Encodings[last.Encoding], decision.Encodings[encoding])
		}
	}
	const setting = "ORIEL_DECISIONS_FORMAT"
	f.Refused(map[string]string{setting: "protobuf"}, "the configuration differs", setting)
}
