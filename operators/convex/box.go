package convex

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Box has a separate range for each coordinate: low_i ≤ x_i ≤ high_i.
type Box struct {
	low, high  []float64
	wide, long float64 // D and the largest norm
}

// newCube returns [−R, R]^n.
func newCube(n int, radius float64) Box {
	b := Box{low: make([]float64, n), high: make([]float64, n)}
	for i := range n {
		b.low[i], b.high[i] = -radius, radius
	}
	b.long = float64(radius * math.Sqrt(float64(n)))
	b.wide = float64(2 * radius * math.Sqrt(float64(n)))
	return b
}

// ParseEnd returns the canonical form of an entry, and whether it is valid: a number of absolute value at most 1e15.
func ParseEnd(text string) (canonical string, ok bool) {
	end, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
	if err != nil || !(math.Abs(end) <= maxRadius) {
		return text, false
	}
	return strconv.FormatFloat(end+0, 'g', -1, 64), true // −0 is 0
}

// newBox reads entries in the form of ParseEnd: one for each coordinate, or one for all. Its errors name the position,
// from 1.
func newBox(low, high []string, n int) (Box, error) {
	ends := func(name string, list []string) ([]float64, error) {
		if len(list) != 1 && len(list) != n {
			return nil, fmt.Errorf("convex: box: %d %s ends: neither one for each of %d dimensions, nor one for all",
				len(list), name, n)
		}
		out := make([]float64, n)
		for i := range out {
			canonical, ok := ParseEnd(list[min(i, len(list)-1)])
			end, err := strconv.ParseFloat(canonical, 64)
			if !ok || err != nil {
				return nil, fmt.Errorf("convex: box: %s end %d: not a number up to 1e15 in size", name, i+1)
			}
			out[i] = end
		}
		return out, nil
	}
	lows, errLow := ends("low", low)
	highs, errHigh := ends("high", high)
	if err := errors.Join(errLow, errHigh); err != nil {
		return Box{}, err
	}
	b, far := Box{low: lows, high: highs, wide: length(highs, lows)}, make([]float64, n)
	for i := range far {
		if !(highs[i]-lows[i] >= minRadius) {
			return Box{}, fmt.Errorf("convex: box: coordinate %d from %g to %g: the low end must be below the high one, by 1e-15 at least",
				i+1, lows[i], highs[i])
		}
		far[i] = max(math.Abs(lows[i]), math.Abs(highs[i]))
	}
	b.long = length(far, nil)
	return b, nil
}

// Name returns box.
func (Box) Name() string { return "box" }

// Dimension returns n.
func (b Box) Dimension() int { return len(b.low) }

// Diameter returns the distance of two opposite corners.
func (b Box) Diameter() float64 { return b.wide }

// MaxNorm returns the norm of the farthest corner.
func (b Box) MaxNorm() float64 { return b.long }

// Start writes the centre.
func (b Box) Start(dst []float64) {
	for i, low := range b.low {
		dst[i] = low/2 + b.high[i]/2
	}
}

// inner returns half of the shortest side.
func (b Box) inner() float64 {
	radius := math.Inf(1)
	for i, low := range b.low {
		radius = min(radius, b.high[i]/2-low/2)
	}
	return radius
}

// Projection returns b itself: it clips each coordinate, and needs no scratch space.
func (b Box) Projection() Projection { return b }

// Project writes the nearest point of the box.
func (b Box) Project(dst, x []float64) {
	low, high := b.low[:len(x)], b.high[:len(x)]
	for i, v := range x {
		if v > high[i] {
			v = high[i]
		} else if v < low[i] {
			v = low[i]
		}
		dst[i] = v
	}
}

func (b Box) clip(i int, v float64) float64 { return max(b.low[i], min(b.high[i], v)) }

// Minimise writes the low end where c_i > 0, and the high end elsewhere.
func (b Box) Minimise(dst, c []float64) {
	for i, v := range c {
		dst[i] = b.high[i]
		if v > 0 {
			dst[i] = b.low[i]
		}
	}
}

// LocalOracle returns the direct form of operators/coco/SPEC.md §7.4, without decomposition.
func (b Box) LocalOracle() LocalOracle {
	o := &localBox{box: b, x: make([]float64, b.Dimension())}
	b.Start(o.x)
	return o
}

// localBox takes p_i = clip(x_i − r·sign(c_i)): the exact minimiser over the box and |x−y|_∞ ≤ r, which contains the
// Euclidean ball of radius r; hence ρ = √n.
type localBox struct {
	box Box
	x   []float64
}

func (o *localBox) Point() []float64 { return o.x }

func (o *localBox) Ratio() float64 { return math.Sqrt(float64(len(o.x))) }

func (o *localBox) Move(alpha, r float64, c []float64) {
	for i, x := range o.x {
		p := o.local(i, x, r, c[i])
		o.x[i] = o.box.clip(i, float64((1-alpha)*x)+float64(alpha*p))
	}
}

func (o *localBox) local(i int, x, r, c float64) float64 {
	switch {
	case c > 0:
		return o.box.clip(i, x-r)
	case c < 0:
		return o.box.clip(i, x+r)
	}
	return x
}

func (o *localBox) AppendState(dst []byte) []byte { return appendFloats(dst, o.x) }

func (o *localBox) StateLen() int { return 8 * len(o.x) }

func (o *localBox) Restore(state []byte) error {
	if len(state) != o.StateLen() {
		return errStateLen
	}
	for i := range o.x {
		if v := floatAt(state, i); !(v >= o.box.low[i] && v <= o.box.high[i]) {
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
