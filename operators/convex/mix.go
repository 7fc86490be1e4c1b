package convex

import (
	"errors"
	"math"
)

// A mix is a vector of non-negative components with a fixed sum: a point of a simplex, or the weights of vertices.

// sum returns the sum of all entries, added in ascending order of positions.
func sum(v []float64) float64 {
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}

// dust is the share of a mix below which normalise drops a component. A component from which mass is taken repeatedly
// shrinks by 1−α each time, and would reach the slow subnormal numbers. n·dust is far below the rounding of the sum.
const dust = 0x1p-80

// normalise drops dust and scales a mix so that its components sum to total, up to n ulp. Otherwise the rounding of
// moves would add up over millions of steps.
func normalise(mix []float64, total float64) {
	for i, v := range mix {
		if v < dust*total {
			mix[i] = 0
		}
	}
	if s := sum(mix); s != total {
		factor := total / s
		for i, v := range mix {
			mix[i] = float64(v * factor)
		}
	}
}

// checkMix checks components that normalise has scaled.
func checkMix(mix []float64, total float64) error {
	for _, v := range mix {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return errors.New("convex: state: negative or not finite component")
		}
	}
	if !(math.Abs(sum(mix)-total) <= sumTolerance*total) {
		return errors.New("convex: state: components do not sum to the set's size")
	}
	return nil
}
