package service_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/schemas"
)

// TestDecisionsInEveryEncodingAreServed: three deployments, each of which goes on after the one before it, from its last
// decision, whatever encoding that one has. What is published is a third as long, is what `oriel replay --check` and
// the gauges say, and what `oriel tail` prints as JSON; and a deployment keeps its encoding.
func TestDecisionsInEveryEncodingAreServed(t *testing.T) {
	t.Parallel()
	const each = 10
	more := forgetting()
	more["ORIEL_DECISION_GAUGES"] = "8"
	f := newFixture(t, 1, more)
	events := servicetest.Events(0, each*len(schemas.Encodings))
	for i, encoding := range []schemas.Encoding{schemas.JSON, schemas.Protobuf, schemas.Avro} {
		if i > 0 {
			f = f.after(nil)
		}
		f.Env["ORIEL_DECISIONS_FORMAT"] = schemas.Encodings[encoding]
		f.Must("topics")
		running := f.Start(nil, "run")
		f.AwaitTaken(time.Minute, int64(i*each)) // the opening
		checkpoint := filepath.Join(t.TempDir(), "checkpoint")
		f.Must("replay", "--save", checkpoint)
		f.Send(0, events[i*each:][:each]...)
		f.AwaitTaken(time.Minute, int64((i+1)*each))
		pages := f.Pages(running)
		running.Terminate()
		if i > 0 {
			running.Says("from its decision of step 10")
		}
		f.CheckHistory(0, each)
		f.Compares(checkpoint, each)
		var lines string
		for _, r := range f.Read(f.Topic("decisions"), 0, false) {
			d, err := schemas.ParseDecision(r.Value)
			if err != nil || d.Encoding != encoding {
				t.Fatalf("%v: decisions in %s, want %s", err, schemas.Encodings[d.Encoding], schemas.Encodings[encoding])
			}
			line, err := schemas.AppendLine(nil, r.Value)
			if err != nil {
				t.Fatal(err)
			}
			lines += string(line) + "\n"
			coordinate := string(schemas.AppendFloat(nil, d.Point[0]))
			gauge := `oriel_decision{coordinate="0",stream="0"} `
			if shown := strings.Contains(pages, gauge+coordinate+"\n"); shown != (d.Step == each) {
				t.Errorf("the gauge of step %d is shown: %v", d.Step, shown)
			}
		}
		if raw := f.Must("tail", "--topic", f.Topic("decisions"), "--raw", "--follow=false"); raw != lines {
			t.Errorf("tail --raw prints %s, want %s", raw, lines)
		}
		table := f.Must("tail", "--topic", f.Topic("decisions"), "--follow=false")
		if strings.Count(table, " coordinates]  memory=64") != each {
			t.Errorf("tail prints %s", table)
		}
		other := schemas.Encodings[(i+1)%len(schemas.Encodings)]
		f.Refused(map[string]string{"ORIEL_DECISIONS_FORMAT": other}, "the configuration differs", "ORIEL_DECISIONS_FORMAT")
	}
}
