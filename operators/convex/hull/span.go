package hull

import (
	"errors"

	"oriel/operators/convex"
	"oriel/operators/convex/shape"
)

// maxSpan is the largest number of coordinates in a basis, equal to the limit maxFactor for a factor.
const maxSpan = 1 << 18

// Narrow is the relative distance from a space below which a point counts as in the space. It is larger than rounding
// errors, and smaller than intended differences in settings.
const Narrow = 1e-9

// span is a space given by an orthonormal basis.
type span struct {
	basis [][]float64
	share []float64 // components of v along the basis, scratch
}

// Tangent returns the space of all differences of points, by the Gram–Schmidt process. Each step takes the point
// farthest from the space so far, the first among equals, and subtracts its component in the space twice.
func (h Hull) Tangent() (convex.Tangent, error) {
	n := h.Dimension()
	rest := make([][]float64, len(h.Corners)-1)
	for i, corner := range h.Corners[1:] {
		rest[i] = make([]float64, n)
		for j, x := range corner {
			rest[i][j] = x - h.Corners[0][j]
		}
	}
	s := &span{}
	for len(s.basis) < n {
		farthest, most := 0, 0.0
		for i, v := range rest {
			if long := shape.Length(v, nil); long > most {
				farthest, most = i, long
			}
		}
		if most <= Narrow*h.D {
			break
		}
		if (len(s.basis)+1)*n > maxSpan {
			return nil, errors.New("convex: vertices: so many directions that a projection on them costs too much")
		}
		direction := rest[farthest]
		for _, b := range s.basis {
			without(direction, b)
		}
		shape.Unit(direction)
		rest[farthest] = make([]float64, n)
		s.basis = append(s.basis, direction)
		for _, v := range rest {
			without(v, direction)
		}
	}
	if len(s.basis) == n {
		return shape.Full(n), nil
	}
	s.share = make([]float64, len(s.basis))
	return s, nil
}

// without subtracts from v its component along a unit vector.
func without(v, direction []float64) {
	along := inner(v, direction)
	for i, x := range direction {
		v[i] -= float64(along * x)
	}
}

// inner returns the inner product, added in ascending order of positions.
func inner(a, b []float64) float64 {
	total := 0.0
	for i, x := range a {
		total += float64(x * b[i])
	}
	return total
}

func (s *span) Dimension() int { return len(s.basis) }

// Project replaces v by the sum of its components along the basis vectors.
func (s *span) Project(v []float64) {
	for k, b := range s.basis {
		s.share[k] = inner(v, b)
	}
	clear(v)
	for k, b := range s.basis {
		for i, x := range b {
			v[i] += float64(s.share[k] * x)
		}
	}
}

// Coarse has all directions, because a basis costs too much.
func (h Hull) Coarse() convex.Tangent { return shape.Full(h.N) }
