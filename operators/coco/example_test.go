package coco_test

import (
	"fmt"

	"oriel/mechanisms"
	"oriel/mechanisms/contribution"
	"oriel/mechanisms/dp"
	"oriel/mechanisms/noise"
	"oriel/mechanisms/protection"
	"oriel/operators"
	"oriel/operators/coco"
	"oriel/operators/convex/catalogue"
	"oriel/operators/loss"
	"oriel/schemas/event"
)

// Example learns in the unit ball from a stream of two-dimensional logistic events, in steps of two, under window (1,
// 1e-6)-DP.
func Example() {
	set, _ := catalogue.Parse(catalogue.Spec{Name: "l2-ball", Dimension: 2, Radius: 1})
	logistic, _ := loss.Parse("logistic", 0)
	operator := coco.Config{
		Update: coco.Projection, Loss: logistic, Set: set, Clip: 1, StrongConvexity: 1e-3, EmitEvery: 1,
	}
	mechanism := mechanisms.Config{
		Name: "tree-gaussian", Batch: 2, Contribution: contribution.OneComponent(2, operator.Clip),
		Budget: dp.Budget{Epsilon: 1, Delta: 1e-6}, Failure: operator.StepFailure(),
		Terms: protection.Terms{Scope: protection.Window{Steps: 1024}, Unit: protection.Event{Exchange: dp.Replace}},
	}
	// Both plans are made once, when the stream is opened, and must be stored.
	sums, _ := mechanisms.Calibrate(mechanism)
	plan, _ := operator.NewParams(mechanism)
	stream, err := mechanisms.Open(mechanism, sums, [32]byte{ /* 256 secret random bits */ })
	if err != nil {
		panic(err)
	}
	machine, err := coco.New(operator, plan, stream)
	if err != nil {
		panic(err)
	}
	counted := operators.ByCount(machine)
	for offset := range 4 {
		event := event.Event{Vector: event.Vector{Values: []float64{0.6, 0.8}}, Label: 1, Weight: 1}
		record := operators.Record{Identity: noise.Identity{Offset: int64(offset)}, Event: event}
		for _, d := range counted.Add(nil, record) {
			fmt.Println("decision", d.Index, "of dimension", len(d.Point), "after event", offset)
		}
	}
	// Output:
	// decision 1 of dimension 2 after event 1
	// decision 2 of dimension 2 after event 3
}
