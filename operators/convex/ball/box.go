package ball

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"oriel/operators/convex"
	"oriel/operators/convex/oracle"
	"oriel/operators/convex/shape"
	"oriel/operators/setting"
)

// Box has a separate range for each coordinate: low_i ≤ x_i ≤ high_i.
type Box struct {
	shape.Shape
	Low, High []float64
}

// NewCube returns [−R, R]^n.
func NewCube(n int, radius float64) Box {
	b := Box{Low: make([]float64, n), High: make([]float64, n)}
	shape.Fill(b.Low, -radius)
	shape.Fill(b.High, radius)
	root := math.Sqrt(float64(n))
	b.Shape = shape.New("box", n, float64(2*radius*root), float64(radius*root))
	return b
}

// ParseEnd returns the canonical form of an entry, and whether it is valid: a number of absolute value at most 1e15.
func ParseEnd(text string) (canonical string, ok bool) {
	end, err := setting.ParseNumber(text)
	if err != nil || !(math.Abs(end) <= shape.MaxRadius) {
		return text, false
	}
	return strconv.FormatFloat(end, 'g', -1, 64), true
}

// NewBox reads entries in the form of ParseEnd: one for each coordinate, or one for all. Its errors name the position,
// from 1.
func NewBox(low, high []string, n int) (Box, error) {
	ends := func(name string, list []string) ([]float64, error) {
		if len(list) != 1 && len(list) != n {
			return nil, fmt.Errorf("convex: box: %d %s ends: neither one for each of %d dimensions, nor one for all",
				len(list), name, n)
		}
		out := make([]float64, n)
		for i := range out {
			canonical, ok := ParseEnd(list[min(i, len(list)-1)])
			end, err := setting.ParseNumber(canonical)
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
	corner := make([]float64, n) // the corner farthest from 0
	for i := range corner {
		if !(highs[i]-lows[i] >= shape.MinRadius) {
			return Box{}, fmt.Errorf("convex: box: coordinate %d from %g to %g: the low end must be below the high one, by 1e-15 at least",
				i+1, lows[i], highs[i])
		}
		corner[i] = max(math.Abs(lows[i]), math.Abs(highs[i]))
	}
	return Box{shape.New("box", n, shape.Length(highs, lows), shape.Length(corner, nil)), lows, highs}, nil
}

// Start writes the centre.
func (b Box) Start(dst []float64) {
	for i, low := range b.Low {
		dst[i] = low/2 + b.High[i]/2
	}
}

// Inner returns half of the shortest side, the radius of the largest ball in the box.
func (b Box) Inner([]float64) (float64, error) {
	radius := math.Inf(1)
	for i, low := range b.Low {
		radius = min(radius, b.High[i]/2-low/2)
	}
	return radius, nil
}

// Projection returns b itself, because clipping coordinates needs no scratch space.
func (b Box) Projection() convex.Projection { return b }

// Project writes the nearest point of the box.
func (b Box) Project(dst, x []float64) {
	low, high := b.Low[:len(x)], b.High[:len(x)]
	for i, v := range x {
		if v > high[i] {
			v = high[i]
		} else if v < low[i] {
			v = low[i]
		}
		dst[i] = v
	}
}

func (b Box) clip(i int, v float64) float64 { return max(b.Low[i], min(b.High[i], v)) }

// Minimise writes the low end where c_i > 0, and the high end elsewhere.
func (b Box) Minimise(dst, c []float64) {
	for i, v := range c {
		dst[i] = b.High[i]
		if v > 0 {
			dst[i] = b.Low[i]
		}
	}
}

// LocalOracle returns the direct form of operators/coco/SPEC.md §7.4, without decomposition.
func (b Box) LocalOracle() convex.LocalOracle {
	return &localBox{oracle.NewState(b, b.Check), b}
}

func (b Box) Check(x []float64) error {
	for i, v := range x {
		if !(v >= b.Low[i] && v <= b.High[i]) {
			return errors.New("convex: state: point outside the box")
		}
	}
	return nil
}

// localBox moves towards p with p_i = clip(x_i − r·sign(c_i)), the exact minimiser over all y of the box with |x−y|_∞ ≤
// r. These y include the Euclidean ball of radius r. Hence ρ = √n.
type localBox struct {
	oracle.State
	box Box
}

func (o *localBox) Ratio() float64 { return math.Sqrt(float64(len(o.X))) }

func (o *localBox) Move(alpha, r float64, c []float64) {
	for i, x := range o.X {
		p := o.local(i, x, r, c[i])
		o.X[i] = o.box.clip(i, float64((1-alpha)*x)+float64(alpha*p))
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
