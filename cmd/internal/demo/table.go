package demo

import (
	"context"
	"fmt"
	"io"
	"math"
	"strings"

	"oriel/cmd/internal/eval"
	"oriel/cmd/internal/eval/race"
	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/settings"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/decision"
)

// airports is an eval.Source of the flights of each airport.
type airports struct{ streams [][]flights.Flight }

func newAirports(all []flights.Flight) airports {
	streams := make([][]flights.Flight, len(flights.Origins))
	for _, f := range all {
		streams[f.Origin] = append(streams[f.Origin], f)
	}
	return airports{streams}
}

// Totals counts the flights of each airport.
func (d airports) Totals() []int64 {
	var totals []int64
	for _, stream := range d.streams {
		totals = append(totals, int64(len(stream)))
	}
	return totals
}

// Each calls f with the records that were sent.
func (d airports) Each(_ context.Context, f func(eval.Item) error) error {
	for p, stream := range d.streams {
		for i := range stream {
			r := records.Record{Public: records.Public{Offset: int64(i)}, Value: stream[i].AppendEvent(nil)}
			if err := f(eval.Item{Stream: int32(p), Record: r}); err != nil {
				return err
			}
		}
	}
	return nil
}

// table is the table at the end of the demo. Its figures come from the decision topics, which it reads like any other
// consumer.
type table struct {
	events airports
	rows   []settings.Settings

	numbers string // table that privateNumbers has printed
}

const notes = `
for life: the weight of a step's data falls with each later step (memory, ORIEL_MEMORY), and ε holds for every flight
for ever. The others protect the newest W flights of each stream; a flight that leaves the window is not forgotten, and
its ε grows with age as shown. Adjacency replace, one flight, δ = 1e-6. Settings are public: the regulariser follows
from the noise, as ` + "`oriel plan`" + ` advises, and from no flight; so each row has a learner of its own, whose loss
without noise stands beside it. A window of 1024 flights is for show.`

// print scores the decisions and prints a conclusion.
func (d *table) print(ctx context.Context, out io.Writer, client *kafka.Client) error {
	var o race.Options
	for _, s := range d.rows {
		var streams []race.Published
		for p := range d.events.streams {
			streams = append(streams, publishedDecisions(ctx, client, s.Deployment().Decisions, int32(p)))
		}
		o.Read = append(o.Read, streams)
	}
	report, err := race.New(ctx, eval.Input{Settings: d.rows, Seeds: 1}, d.events, o)
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\n%d flights of 2013 in %d streams, one an airport (%s): will it arrive more than 15 minutes late?\n"+
		"Each decision is scored on the flight after it.\n\n", report.Events, report.Streams, strings.Join(flights.Origins, ", "))
	report.PrintRows(out)
	fmt.Fprintln(out, notes)
	_, _ = fmt.Fprint(out, d.numbers)
	fmt.Fprintf(out, "\n%s\n", closing(report))
	return nil
}

// publishedDecisions reads a partition's committed decisions one by one and checks that their steps are 1, 2, 3, ….
func publishedDecisions(ctx context.Context, client *kafka.Client, topic string, p int32) race.Published {
	var waiting []decision.Decision
	var reader *fetch.Reader
	step := uint64(0)
	return func() ([]float64, error) {
		for len(waiting) == 0 {
			if reader == nil {
				bounds, err := topics.BoundsOf(ctx, client, topic, p)
				if err != nil {
					return nil, err
				}
				reader = fetch.NewReader(client, topic, p, bounds.Start, fetch.Options{MaxBytes: 1 << 20})
			}
			batch, err := reader.Fetch(ctx)
			if err != nil {
				return nil, err
			}
			for _, r := range batch.Records {
				d, err := decision.Parse(r.Value)
				if err != nil {
					return nil, err
				}
				waiting = append(waiting, d)
			}
			batch.Release()
		}
		d := waiting[0]
		waiting = waiting[1:]
		if step++; d.Step != step {
			return nil, fmt.Errorf("%s partition %d: step %d stands at place %d", topic, p, d.Step, step)
		}
		return d.Point, nil
	}
}

// closing returns the conclusion, for readers who read nothing else. It is about the first row, whose guarantee we
// recommend.
func closing(r *race.Report) string {
	row := &r.Rows[0]
	return fmt.Sprintf("In plain words: whatever you believe about %s, and whatever else you know, all forecasts of the first row together change\n"+
		"your odds by a factor of at most %.1f (but for a chance of one in %.0f), and yet they keep %.0f %% of the gain that the same method\n"+
		"learns without any privacy beyond knowing how many flights are late.",
		row.Terms.AnyOf("flight"), math.Ceil(10*math.Exp(row.Epsilon))/10, twoDigits(1/exceptional(row.Mu, row.Epsilon)),
		100*row.Gain)
}

// exceptional returns the probability that releases multiply the odds of a guess by more than e^ε. Releases with and
// without the event are at most as different as N(0, 1) and N(µ, 1) (Dong, Roth and Su, Gaussian Differential Privacy,
// 2022, section 2). So the logarithm of the factor is N(µ²/2, µ²), which exceeds ε with probability Φ(µ/2 − ε/µ).
func exceptional(mu, epsilon float64) float64 { return math.Erfc((epsilon/mu-mu/2)/math.Sqrt2) / 2 }

// twoDigits rounds a number down to two digits.
func twoDigits(x float64) float64 {
	unit := math.Pow(10, max(0, math.Floor(math.Log10(x))-1))
	return unit * math.Floor(x/unit)
}
