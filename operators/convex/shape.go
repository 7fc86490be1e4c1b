package convex

import (
	"encoding/binary"
	"errors"
	"math"
)

// shape holds the properties that a set computes once. Sets embed it.
type shape struct {
	name              string
	n                 int
	diameter, maxNorm float64
}

func (s shape) Name() string { return s.name }

func (s shape) Dimension() int { return s.n }

// Diameter returns D, or for flows, trees and forests an upper bound.
func (s shape) Diameter() float64 { return s.diameter }

// MaxNorm returns the largest norm of a point.
func (s shape) MaxNorm() float64 { return s.maxNorm }

// Start writes 0. A set that starts at another point must have its own Start.
func (s shape) Start(dst []float64) { clear(dst) }

func fill(dst []float64, v float64) {
	for i := range dst {
		dst[i] = v
	}
}

// point stores x for a LocalOracle that has no other state.
type point struct {
	x     []float64
	check func(x []float64) error // returns an error if x is not a point of the set
}

func newPoint(s Set, check func(x []float64) error) point {
	p := point{make([]float64, s.Dimension()), check}
	s.Start(p.x)
	return p
}

func (p *point) Point() []float64 { return p.x }

func (p *point) AppendState(dst []byte) []byte { return appendFloats(dst, p.x) }

func (p *point) StateLen() int { return 8 * len(p.x) }

// Restore accepts only a point of the set.
func (p *point) Restore(state []byte) error { return restore(p.x, state, p.check) }

func appendFloats(dst []byte, v []float64) []byte {
	for _, f := range v {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}

// restore reads numbers that appendFloats has written. If check returns an error for them, it leaves dst unchanged.
func restore(dst []float64, state []byte, check func([]float64) error) error {
	if len(state) != 8*len(dst) {
		return errors.New("convex: state: wrong length")
	}
	v := make([]float64, len(dst))
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(state[8*i:]))
	}
	if err := check(v); err != nil {
		return err
	}
	copy(dst, v)
	return nil
}

// sumTolerance bounds |Σ − total|/total of a stored point. The true error is below n ulp, for any n that fits in
// memory.
const sumTolerance = 1e-9

var errCoordinate = errors.New("convex: state: coordinate out of range")

// checkRange checks that coordinates are in [0, most].
func checkRange(x []float64, most float64) error {
	for _, v := range x {
		if !(v >= 0 && v <= most) {
			return errCoordinate
		}
	}
	return nil
}

// checkSum checks that coordinates are in [0, most] and sum to total.
func checkSum(x []float64, most, total float64) error {
	if err := checkRange(x, most); err != nil {
		return err
	}
	if !(math.Abs(sum(x)-total) <= sumTolerance*total) {
		return errors.New("convex: state: coordinates do not sum to the set's size")
	}
	return nil
}
