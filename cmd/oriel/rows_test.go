package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"oriel/pipeline/kafka"
	"oriel/schemas"
)

// decisionsOf sends rows of numbers, each an event of one member, to a service that decides every so many events, and
// returns its decisions when it has taken all.
func (f *fixture) decisionsOf(member string, rows [][]float64, every int) []schemas.Decision {
	f.t.Helper()
	f.must("topics")
	running := f.start(nil, "run")
	for batch := range slices.Chunk(rows, 500) {
		var events []kafka.Record
		for _, row := range batch {
			texts := make([]string, len(row))
			for i, x := range row {
				texts[i] = decimal(x)
			}
			events = append(events, kafka.Record{Value: fmt.Appendf(nil, `{%q:[%s]}`, member, strings.Join(texts, ","))})
		}
		f.send(0, events...)
	}
	f.awaitTaken(2*time.Minute, int64(len(rows)))
	running.terminate()
	all := f.read(f.topic("decisions"), 0, false)
	if len(all) != len(rows)/every {
		f.t.Fatalf("%d decisions of %d events", len(all), len(rows))
	}
	decisions := make([]schemas.Decision, len(all))
	for i, r := range all {
		var err error
		if decisions[i], err = schemas.ParseDecision(r.Value); err != nil {
			f.t.Fatal(err)
		}
	}
	return decisions
}
