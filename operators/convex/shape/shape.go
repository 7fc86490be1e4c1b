package shape

import (
	"errors"
	"math"
)

// Shape holds the properties that a set computes once. Sets embed it.
type Shape struct {
	Kind string  // name of the set
	N    int     // dimension
	D, M float64 // diameter and largest norm of a point
}

// New returns the properties of a set.
func New(name string, n int, diameter, maxNorm float64) Shape {
	return Shape{name, n, diameter, maxNorm}
}

func (s Shape) Name() string { return s.Kind }

func (s Shape) Dimension() int { return s.N }

// Diameter returns D, or for flows, trees and forests an upper bound.
func (s Shape) Diameter() float64 { return s.D }

// MaxNorm returns the largest norm of a point.
func (s Shape) MaxNorm() float64 { return s.M }

// Start writes 0. A set that starts at another point must have its own Start.
func (s Shape) Start(dst []float64) { clear(dst) }

// SumTolerance bounds |Σ − total|/total of a stored point. The true error is below n ulp, for any n that fits in
// memory.
const SumTolerance = 1e-9

// ErrCoordinate is the error of a stored point with a coordinate out of its range.
var ErrCoordinate = errors.New("convex: state: coordinate out of range")

// MinRadius and MaxRadius keep every product of a radius with a cost far from overflow and underflow.
const MinRadius, MaxRadius = 1e-15, 1e15

// CheckRange checks that coordinates are in [0, most].
func CheckRange(x []float64, most float64) error {
	for _, v := range x {
		if !(v >= 0 && v <= most) {
			return ErrCoordinate
		}
	}
	return nil
}

// CheckSum checks that coordinates are in [0, most] and sum to total.
func CheckSum(x []float64, most, total float64) error {
	if err := CheckRange(x, most); err != nil {
		return err
	}
	if !(math.Abs(Sum(x)-total) <= SumTolerance*total) {
		return errors.New("convex: state: coordinates do not sum to the set's size")
	}
	return nil
}

// Full is the space of all directions, for a set with an interior.
type Full int

func (n Full) Dimension() int { return int(n) }

func (Full) Project([]float64) {}

// Centred is a product of spaces, one for each consecutive block of the listed sizes. Each space has the vectors whose
// entries sum to 0.
type Centred []int

func (b Centred) Dimension() int {
	dimension := 0
	for _, n := range b {
		dimension += n - 1
	}
	return dimension
}

func (b Centred) Project(v []float64) {
	at := 0
	for _, n := range b {
		block := v[at : at+n]
		mean := Sum(block) / float64(n)
		for i := range block {
			block[i] -= mean
		}
		at += n
	}
}

// Scattered is like centred, for blocks that are lists of coordinates.
type Scattered [][]int32

func (b Scattered) Dimension() int {
	dimension := 0
	for _, block := range b {
		dimension += len(block) - 1
	}
	return dimension
}

func (b Scattered) Project(v []float64) {
	for _, block := range b {
		total := 0.0
		for _, i := range block {
			total += v[i]
		}
		mean := total / float64(len(block))
		for _, i := range block {
			v[i] -= mean
		}
	}
}
