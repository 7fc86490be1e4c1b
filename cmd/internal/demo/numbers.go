package demo

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/topics"
	"oriel/schemas/decision"
)

// Settings of the demo's counts. Values outside the range are clamped to it, and a decision comes after a fixed number
// of steps.
const (
	arrivalsTopic              = "arrivals"
	earliest, latest           = -60.0, 180.0 // range of delays, minutes
	arrivalsMemory, arrivalsOf = 65536, 100
)

// arrivalLines are the settings of a deployment that publishes the mean delay by airline, for life.
func arrivalLines() []string {
	return []string{
		"ORIEL_NAME=delays", "ORIEL_INPUT_TOPIC=" + arrivalsTopic, "ORIEL_STREAM=partition",
		"ORIEL_START=earliest", "ORIEL_ALLOW_SINGLE_REPLICA=true",
		"ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=carrier=" + strings.Join(flights.Carriers, "|"),
		fmt.Sprintf("ORIEL_VALUE=delay=%g:%g", earliest, latest), "ORIEL_STATISTICS=mean,count", "ORIEL_MECHANISM=blt",
		"ORIEL_WINDOW=lifetime", fmt.Sprintf("ORIEL_MEMORY=%d", arrivalsMemory), "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6",
		fmt.Sprintf("ORIEL_EMIT_EVERY=%d", arrivalsOf),
	}
}

// appendArrival appends the event for a flight in the deployment of arrivalLines.
func appendArrival(f *flights.Flight, dst []byte) []byte {
	return fmt.Appendf(dst, `{"carrier":"%s","delay":%g}`, flights.Carriers[f.Carrier], f.Delay)
}

// privateNumbers runs the deployment of arrivalLines over the flights. For each airport it prints the newest numbers
// next to the true ones.
func privateNumbers(
	ctx context.Context, client *kafka.Client, dir string, streams [][]flights.Flight, o Options,
) (string, error) {
	if err := sendFlights(ctx, client, arrivalsTopic, streams, appendArrival, o.Bar); err != nil {
		return "", err
	}
	s, err := settings.Load(arrivalLines(), settings.Events, settings.Operator)
	if err != nil {
		return "", err
	}
	due := 0
	for _, stream := range streams {
		due += len(stream) / arrivalsOf
	}
	if err := serve(ctx, client, s, dir, due, o); err != nil {
		return "", fmt.Errorf("%s: %w", s.Name, err)
	}
	learner := s.Learner()
	operator := learner.Operator()
	numbers, topic := operators.NumbersOf(operator), s.Deployment().Decisions
	text := fmt.Sprintf("\nPrivate numbers (%s), ε = %g for life: minutes late on average, ± at 95 %% by the noise (in brackets: the truth)\n",
		topic, s.Epsilon)
	for p, stream := range streams {
		d, err := lastDecision(ctx, client, topic, int32(p))
		if err != nil {
			return "", err
		}
		shown, err := numbers.Read(d)
		if err != nil {
			return "", err
		}
		means, carriers := arrivalMeans(stream[:d.Step]), len(flights.Carriers)
		order := make([]int, carriers)
		for i := range order {
			order[i] = i
		}
		slices.SortFunc(order, func(a, b int) int { // the order of the private counts
			return int(d.Point[carriers+b]) - int(d.Point[carriers+a])
		})
		var parts []string
		for _, i := range order[:4] {
			value := fmt.Sprintf("%5.1f", d.Point[i])
			if !shown[i].Shown {
				value = "    –"
			}
			parts = append(parts, fmt.Sprintf("%s %s ± %3.1f (%5.1f)",
				flights.Carriers[i], value, (shown[i].High-shown[i].Low)/2, means[i]))
		}
		text += "  " + flights.Origins[p] + "  " + strings.Join(parts, "   ") + "\n"
	}
	return text, nil
}

// arrivalMeans returns the exact means by airline that the private numbers estimate: means of clamped delays, in which
// each later flight multiplies the weight of a flight by 1 − 1/H.
func arrivalMeans(stream []flights.Flight) []float64 {
	counts, sums := make([]float64, len(flights.Carriers)), make([]float64, len(flights.Carriers))
	for _, f := range stream {
		for i := range counts {
			counts[i] *= 1 - 1./arrivalsMemory
			sums[i] *= 1 - 1./arrivalsMemory
		}
		counts[f.Carrier]++
		sums[f.Carrier] += max(earliest, min(latest, f.Delay))
	}
	for i := range sums {
		sums[i] /= counts[i] // NaN for an airline without flights
	}
	return sums
}

// lastDecision reads a partition of decisions, and returns the newest.
func lastDecision(ctx context.Context, client *kafka.Client, topic string, p int32) (d decision.Decision, err error) {
	bounds, err := topics.ReadableEnd(ctx, client, topic, p)
	if err != nil {
		return d, err
	}
	reader := fetch.NewReader(client, topic, p, bounds.Start, fetch.Options{MaxBytes: 1 << 20})
	for next := bounds.Start; next < bounds.Stable; {
		batch, err := reader.Fetch(ctx)
		if err != nil {
			return d, err
		}
		for _, r := range batch.Records {
			if d, err = decision.Parse(r.Value); err != nil {
				return d, err
			}
		}
		next = batch.Next
		batch.Release()
	}
	if d.Step == 0 {
		err = fmt.Errorf("%s partition %d: no decision", topic, p)
	}
	return d, err
}
