package service_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/servicetest"
	"oriel/pipeline/kafka/records"
)

// TestReadersDoNotSeeARecord runs services over inputs that differ in one record: none more, one more, and a bad one
// more. No step ends with it, so readers of decisions must see the same metrics, readiness and log lines.
func TestReadersDoNotSeeARecord(t *testing.T) {
	more := servicetest.Events(30, 1)
	bad := servicetest.Value(`{"features":{"carrier":"` + servicetest.Canary + `"},"label":`)
	changing := regexp.MustCompile(`(?m)^oriel_last_decision_timestamp_seconds{.*$|time=\S+|\S*127\.0\.0\.1:\d+|started=\S+|(steps|decisions)=\d+`)
	var seen []string
	for _, added := range [][]records.Record{nil, more, {bad}} {
		f := newFixture(t, 1, map[string]string{
			"ORIEL_METRICS": "readers", "ORIEL_BATCH": "10", "ORIEL_LOG_LEVEL": "debug", "ORIEL_COMMIT_INTERVAL": "1s",
		})
		f.Must("topics")
		f.Send(0, servicetest.Events(0, 30)...)
		f.Send(0, added...)
		p := f.Start(nil, "run")
		f.AwaitTaken(time.Minute, int64(30+len(added)))
		counted := fmt.Sprintf(`oriel_decisions_total{deployment=%q,partition="0"} 3`, f.Name)
		f.Await(10*time.Second, "counted", func() bool { return strings.Contains(f.Pages(p), counted) })
		pages := f.Pages(p)
		p.Terminate()
		log := strings.Split(p.Output(), "\n")
		for i := range log {
			log[i] = changing.ReplaceAllString(log[i], "")
		}
		slices.Sort(log) // goroutines may write in another order, and a slow machine may need several commits
		text := changing.ReplaceAllString(pages, "") + strings.Join(slices.Compact(log), "\n")
		seen = append(seen, strings.ReplaceAll(text, f.Name, "NAME"))
	}
	for _, other := range seen[1:] {
		if other != seen[0] {
			t.Errorf("with a record more, readers see\n%s\nnot\n%s", other, seen[0])
		}
	}
	for text, want := range map[string]bool{"lag": false, "records=": false, "from_offset": false, "msg=committed": true} {
		if strings.Contains(seen[0], text) != want {
			t.Errorf("readers see %q, should be %t:\n%s", text, want, seen[0])
		}
	}
}
