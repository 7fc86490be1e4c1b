package shape

import (
	"errors"
	"math"
)

// Fill sets all entries to v.
func Fill(dst []float64, v float64) {
	for i := range dst {
		dst[i] = v
	}
}

// Sum returns the sum of all entries, added in ascending order of positions.
func Sum(v []float64) float64 {
	total := 0.0
	for _, x := range v {
		total += x
	}
	return total
}

// Length returns |x − y|₂, or |x|₂ if y is nil.
func Length(x, y []float64) float64 {
	square := 0.0
	for i, v := range x {
		if y != nil {
			v -= y[i]
		}
		square += float64(v * v)
	}
	return math.Sqrt(square)
}

// Unit scales v to norm 1. If rounding has made v zero, it becomes the first unit vector.
func Unit(v []float64) {
	norm := Length(v, nil)
	if !(norm > 0) {
		v[0], norm = 1, 1
	}
	for i, x := range v {
		v[i] = x / norm
	}
}

// A mix is a vector of non-negative components with a fixed sum: a point of a simplex, or the weights of vertices.

// Dust is the share of a mix below which normalise drops a component. A component from which mass is taken repeatedly
// shrinks by 1−α each time, and would reach the slow subnormal numbers. n·dust is far below the rounding of the sum.
const Dust = 0x1p-80

// Normalise drops dust and scales a mix so that its components sum to total, up to n ulp. Otherwise the rounding of
// moves would add up over millions of steps.
func Normalise(mix []float64, total float64) {
	for i, v := range mix {
		if v < Dust*total {
			mix[i] = 0
		}
	}
	if s := Sum(mix); s != total {
		factor := total / s
		for i, v := range mix {
			mix[i] = float64(v * factor)
		}
	}
}

// CheckMix checks components that normalise has scaled.
func CheckMix(mix []float64, total float64) error {
	for _, v := range mix {
		if !(v >= 0 && v <= math.MaxFloat64) {
			return errors.New("convex: state: negative or not finite component")
		}
	}
	if !(math.Abs(Sum(mix)-total) <= SumTolerance*total) {
		return errors.New("convex: state: components do not sum to the set's size")
	}
	return nil
}
