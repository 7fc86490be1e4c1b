package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/plan"
	"oriel/cmd/internal/settings"
	"oriel/mechanisms/dp"
	"oriel/pipeline/kafka"
	"oriel/schemas"
)

// demoTable is the closing table. Its figures come from the decision topics, read back as any consumer would.
type demoTable struct {
	streams [][]flights.Flight
	rows    []demoRow
}

type demoRow struct {
	guarantee dp.Guarantee
	score     flights.Score
	rate      float64 // events a second
	topic     string
}

// add scores a deployment: the decision of step t predicts flight t + 1, and nothing the first one.
func (d *demoTable) add(ctx context.Context, client *kafka.Client, s settings.Settings, took time.Duration) error {
	model, err := s.Model()
	if err != nil {
		return err
	}
	guarantee, err := s.Guarantee(model)
	if err != nil {
		return err
	}
	row := demoRow{guarantee: guarantee, topic: s.Deployment().Decisions}
	for p, stream := range d.streams {
		points, err := readDecisions(ctx, client, row.topic, int32(p))
		if err != nil {
			return err
		}
		if len(points) != len(stream) {
			return fmt.Errorf("partition %d: %d decisions for %d events", p, len(points), len(stream))
		}
		var score flights.Score
		score.Add(nil, &stream[0])
		for t := 1; t < len(stream); t++ {
			score.Add(points[t-1], &stream[t])
		}
		row.score.Merge(&score)
	}
	row.rate = float64(row.score.Count()) / took.Seconds()
	d.rows = append(d.rows, row)
	return nil
}

// readDecisions reads a partition's committed decisions and checks that their steps are 1, 2, 3, ….
func readDecisions(ctx context.Context, client *kafka.Client, topic string, p int32) ([][]float64, error) {
	bounds, err := client.Bounds(ctx, topic, p)
	if err != nil {
		return nil, err
	}
	reader := client.NewReader(topic, p, bounds.Start, kafka.ReaderOptions{MaxBytes: 4 << 20})
	var points [][]float64
	for next := bounds.Start; next < bounds.Stable; {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return nil, err
		}
		for _, r := range batch.Records {
			d, err := schemas.ParseDecision(r.Value)
			if err != nil {
				return nil, err
			}
			points = append(points, d.Point)
			if d.Step != uint64(len(points)) {
				return nil, fmt.Errorf("%s partition %d: step %d stands at place %d", topic, p, d.Step, len(points))
			}
		}
		next = batch.Next
		batch.Release()
	}
	return points, nil
}

// withoutPrivacy scores the same learner over exact sums.
func (d *demoTable) withoutPrivacy() *flights.Score {
	all := &flights.Score{}
	for _, stream := range d.streams {
		baseline, score := flights.NewBaseline(0.001, 0, 5), &flights.Score{}
		for i := range stream {
			score.Add(baseline.Weights(), &stream[i])
			baseline.Learn(&stream[i])
		}
		all.Merge(score)
	}
	return all
}

func (d *demoTable) print(out io.Writer) {
	open := d.withoutPrivacy()
	fmt.Fprintf(out, "\n%d flights in %d streams: will it arrive more than 15 minutes late? Each decision is scored on the flight after it.\n\n",
		open.Count(), len(d.streams))
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "mechanism\tlog loss\tAUC\tε\tδ\tW\tε at 10 W\tε at 100 W\tevents/s\tdecisions\t")
	for i := range d.rows {
		r := &d.rows[i]
		g := r.guarantee
		fmt.Fprintf(w, "%s\t%.4f\t%.3f\t%s\t%s\t%s\t%s\t%s\t%.0f\t%s\t\n", g.Mechanism, r.score.LogLoss(), r.score.AUC(0),
			plan.Upper(g.Epsilon), plan.Upper(g.Delta), windowText(g.Window), plan.Upper(g.AtWindows(10).Epsilon), plan.Upper(g.AtWindows(100).Epsilon), r.rate, r.topic)
	}
	fmt.Fprintf(w, "no privacy\t%.4f\t%.3f\t∞\t\t\t\t\t\tnot published\t\n", open.LogLoss(), open.AUC(0))
	_ = w.Flush()
	fmt.Fprintln(out, "\nε and δ are what is proved for the newest W events of each stream (adjacency replace, one event); an event that leaves the\nwindow is not forgotten, its ε grows with age as shown. once-gaussian (noisy online gradient descent) uses each event once,\nfor a guarantee without a window. Mechanisms named -paper use the constants and the sensitivity that\nthe paper prints; their ε is recomputed from the noise that they really add.")
}
