package loss_test

import (
	"fmt"

	"oriel/operators/loss"
	"oriel/schemas/event"
)

func Example() {
	squared, err := loss.Parse("squared", 0)
	if err != nil {
		panic(err)
	}
	e := event.Event{Vector: event.Vector{Indices: []int32{1}, Values: []float64{2}}, Label: 1, Weight: 1}
	x, gradient := []float64{9, 1}, make([]float64, 2)
	fmt.Println(squared.Gradient(gradient, x, e), gradient, squared.Value(x, e))
	// Output: true [0 2] 0.5
}
