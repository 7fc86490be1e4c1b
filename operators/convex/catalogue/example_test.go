package catalogue_test

import (
	"fmt"

	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
)

func Example() {
	set, err := catalogue.Parse(catalogue.Spec{Name: "simplex", Dimension: 3, Radius: 1})
	if err != nil {
		panic(err)
	}
	projection, _ := convex.NewProjection(set)
	x := make([]float64, 3)
	projection.Project(x, []float64{2, 1.5, -4})
	fmt.Println(x)

	oracle, _ := convex.NewLocalOracle(set)
	oracle.Move(1, 0.25, []float64{0, 1, 2}) // from the uniform start towards the corner with cost 0
	fmt.Printf("%.3f\n", oracle.Point())
	// Output:
	// [0.75 0.25 0]
	// [0.550 0.333 0.117]
}
