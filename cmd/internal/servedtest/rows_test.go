package servedtest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"oriel/pipeline/kafka/records"
	"oriel/schemas/decision"
)

// decisionsOf sends rows of numbers to a service that publishes one decision for every `every` events. It returns the
// decisions once all rows are consumed. Each row is an event with one member.
func (f *fixture) decisionsOf(member string, rows [][]float64, every int) []decision.Decision {
	f.T.Helper()
	f.Must("topics")
	running := f.Start(nil, "run")
	for batch := range slices.Chunk(rows, 500) {
		var events []records.Record
		for _, row := range batch {
			texts := make([]string, len(row))
			for i, x := range row {
				texts[i] = decimal(x)
			}
			events = append(events, records.Record{Value: fmt.Appendf(nil, `{%q:[%s]}`, member, strings.Join(texts, ","))})
		}
		f.Send(0, events...)
	}
	f.AwaitTaken(2*time.Minute, int64(len(rows)))
	running.Terminate()
	all := f.Read(f.Topic("decisions"), 0, false)
	if len(all) != len(rows)/every {
		f.T.Fatalf("%d decisions of %d events", len(all), len(rows))
	}
	decisions := make([]decision.Decision, len(all))
	for i, r := range all {
		var err error
		if decisions[i], err = decision.Parse(r.Value); err != nil {
			f.T.Fatal(err)
		}
	}
	return decisions
}
