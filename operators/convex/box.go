package convex

import (
	"encoding/binary"
	"errors"
	"math"
)

// Box is [−R, R]^n.
type Box struct {
	n      int
	radius float64
}

// Name is box.
func (Box) Name() string { return "box" }

// Dimension is n.
func (b Box) Dimension() int { return b.n }

// Diameter is 2R√n.
func (b Box) Diameter() float64 { return float64(2 * b.radius * math.Sqrt(float64(b.n))) }

// MaxNorm is R√n.
func (b Box) MaxNorm() float64 { return float64(b.radius * math.Sqrt(float64(b.n))) }

// Start is the centre.
func (Box) Start(dst []float64) { clear(dst) }

// Projection clips each coordinate. It needs no scratch.
func (b Box) Projection() Projection { return b }

// Project is the projection itself.
func (b Box) Project(dst, x []float64) {
	for i, v := range x {
		dst[i] = b.clip(v)
	}
}

func (b Box) clip(v float64) float64 {
	if v > b.radius {
		return b.radius
	}
	if v < -b.radius {
		return -b.radius
	}
	return v
}

// Minimise is −R where c_i > 0 and R elsewhere.
func (b Box) Minimise(dst, c []float64) {
	for i, v := range c {
		dst[i] = b.radius
		if v > 0 {
			dst[i] = -b.radius
		}
	}
}

// LocalOracle is the direct form of operators/coco/SPEC.md §7.4, without decomposition.
func (b Box) LocalOracle() LocalOracle { return &localBox{box: b, x: make([]float64, b.n)} }

// localBox takes p_i = clip(x_i − r·sign(c_i)): the exact minimiser over the box and |x−y|_∞ ≤ r, which contains the
// Euclidean ball of radius r; hence ρ = √n.
type localBox struct {
	box Box
	x   []float64
}

func (o *localBox) Point() []float64 { return o.x }

func (o *localBox) Ratio() float64 { return math.Sqrt(float64(o.box.n)) }

func (o *localBox) Move(alpha, r float64, c []float64) {
	for i, x := range o.x {
		p := o.local(x, r, c[i])
		o.x[i] = o.box.clip(float64((1-alpha)*x) + float64(alpha*p))
	}
}

func (o *localBox) local(x, r, c float64) float64 {
	switch {
	case c > 0:
		return o.box.clip(x - r)
	case c < 0:
		return o.box.clip(x + r)
	}
	return x
}

func (o *localBox) AppendState(dst []byte) []byte { return appendFloats(dst, o.x) }

func (o *localBox) StateLen() int { return 8 * o.box.n }

func (o *localBox) Restore(state []byte) error {
	if len(state) != o.StateLen() {
		return errStateLen
	}
	for i := range o.x {
		if v := floatAt(state, i); !(math.Abs(v) <= o.box.radius) {
			return errors.New("convex: state: point outside the box")
		}
	}
	readFloats(o.x, state)
	return nil
}

var errStateLen = errors.New("convex: state: wrong length")

func appendFloats(dst []byte, v []float64) []byte {
	for _, f := range v {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}

func floatAt(state []byte, i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(state[8*i:]))
}

func readFloats(dst []float64, state []byte) {
	for i := range dst {
		dst[i] = floatAt(state, i)
	}
}
