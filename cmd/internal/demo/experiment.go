package demo

import (
	"context"
	"fmt"
	"math/rand/v2"

	"oriel/cmd/internal/flights"
	"oriel/cmd/internal/settings"
	"oriel/operators"
	"oriel/pipeline/kafka"
	"oriel/schemas/decision"
)

// The demo's experiments are made up, on real flights of one airport. A public number seeds the choice of arms. In the
// first experiment one in ten late flights of B counts as on time. In the second experiment B changes nothing.
const (
	variantsTopic  = "variants"
	variantsOf     = 100 // number of flights in a step
	variantsTarget = 20_000
)

// drawn is what an experiment's event contains about a flight.
type drawn struct{ b, onTime bool }

// draw draws the arms of flights. The second experiment has the second half of the steps.
func draw(stream []flights.Flight) (all []drawn, second int) {
	random := rand.New(rand.NewPCG(2013, 1))
	second = len(stream) / 2 / variantsOf * variantsOf
	for i := range stream {
		d := drawn{random.IntN(2) == 1, !stream[i].Late}
		if spared := random.IntN(10) == 0; spared && d.b && i < second {
			d.onTime = true
		}
		all = append(all, d)
	}
	return all, second
}

// experiments runs two experiments in turn over the flights of an airport. For each it prints the result and the true
// effect.
func experiments(
	ctx context.Context, client *kafka.Client, dir string, stream []flights.Flight, o Options,
) (string, error) {
	all, second := draw(stream)
	sent := 0
	event := func(_ *flights.Flight, dst []byte) []byte {
		d := all[sent]
		sent++
		arm, y := "A", 0
		if d.b {
			arm = "B"
		}
		if d.onTime {
			y = 1
		}
		return fmt.Appendf(dst, `{"variant":%q,"ontime":%d}`, arm, y)
	}
	if err := sendFlights(ctx, client, variantsTopic, [][]flights.Flight{stream}, event, o.Bar); err != nil {
		return "", err
	}
	s, err := settings.Load([]string{
		"ORIEL_NAME=ontime", "ORIEL_INPUT_TOPIC=" + variantsTopic, "ORIEL_STREAM=partition", "ORIEL_START=earliest",
		"ORIEL_ALLOW_SINGLE_REPLICA=true", "ORIEL_OPERATOR=aggregate", "ORIEL_CELLS=variant=A|B", "ORIEL_VALUE=ontime=0:1",
		"ORIEL_STATISTICS=count,mean", "ORIEL_ARMS=variant", "ORIEL_ALWAYS_VALID=0.05", "ORIEL_PROPENSITIES=0.5|0.5",
		"ORIEL_UNITS=single", "ORIEL_NEAR=0.75", fmt.Sprintf("ORIEL_TARGET=%d", variantsTarget),
		fmt.Sprintf("ORIEL_EXPERIMENT_STEP=1,%d", second/variantsOf+1), "ORIEL_MECHANISM=blt", "ORIEL_WINDOW=lifetime",
		"ORIEL_MEMORY=1024", fmt.Sprintf("ORIEL_BATCH=%d", variantsOf), "ORIEL_EPSILON=1", "ORIEL_DELTA=1e-6",
	}, settings.Events, settings.Operator)
	if err != nil {
		return "", err
	}
	if _, err := serve(ctx, client, s, dir, len(stream)/variantsOf, o); err != nil {
		return "", fmt.Errorf("%s: %w", s.Name, err)
	}
	learner := s.Learner()
	of := operators.ExperimentOf(learner.Operator())
	topic := s.Deployment().Decisions
	last, after := [2]operators.Findings{}, [2]float64{} // by experiment: number of events when B was found to be better
	err = eachDecision(ctx, client, topic, 0, func(line []byte) error {
		d, err := decision.Parse(line)
		if err != nil {
			return err
		}
		f, err := of.Read(d)
		if err != nil {
			return err
		}
		k := f.Number - 1
		if last[k] = f; f.Effects[0].Better && after[k] == 0 {
			after[k] = f.Events
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	text := fmt.Sprintf("\nTwo made-up experiments in turn on one stream (%s), ε = %g for life: B's effect on the share of flights on time\n",
		topic, s.Epsilon)
	end := len(stream) / variantsOf * variantsOf
	for k, part := range [][]drawn{all[:second], all[second:end]} {
		e, found := last[k].Effects[0], "not shown, at any look"
		if after[k] > 0 {
			found = fmt.Sprintf("B better after %.0f flights", after[k])
		}
		text += fmt.Sprintf("  %d  %7.4f, within %7.4f to %7.4f at all looks (%7.4f)   %s\n", k+1, e.Value, e.Low, e.High, effect(part), found)
	}
	return text, nil
}

// effect returns B's share of flights on time minus A's.
func effect(part []drawn) float64 {
	n, onTime := [2]float64{}, [2]float64{}
	for _, d := range part {
		arm := 0
		if d.b {
			arm = 1
		}
		n[arm]++
		if d.onTime {
			onTime[arm]++
		}
	}
	return onTime[1]/n[1] - onTime[0]/n[0]
}
