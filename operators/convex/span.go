package convex

import "errors"

// maxSpan bounds the numbers of a basis, as maxFactor does those of a factor.
const maxSpan = 1 << 18

// narrow is how far points may be from a space, for their size, that still are in it: more than rounding moves them,
// and less than settings would say.
const narrow = 1e-9

// span is the space of an orthonormal basis.
type span struct {
	basis [][]float64
	share []float64 // of v along each
}

// tangent is the space of all differences of points, by the Gram–Schmidt process: each step takes the point that is
// farthest from the space so far, the first of equal ones, and leaves what is in it out twice.
func (h Hull) tangent() (Tangent, error) {
	n := h.Dimension()
	rest := make([][]float64, len(h.corners)-1)
	for i, corner := range h.corners[1:] {
		rest[i] = make([]float64, n)
		for j, x := range corner {
			rest[i][j] = x - h.corners[0][j]
		}
	}
	s := &span{}
	for len(s.basis) < n {
		far, most := 0, 0.0
		for i, v := range rest {
			if long := length(v, nil); long > most {
				far, most = i, long
			}
		}
		if most <= narrow*h.wide {
			break
		}
		if (len(s.basis)+1)*n > maxSpan {
			return nil, errors.New("convex: vertices: so many directions that a projection on them costs too much")
		}
		direction := rest[far]
		for _, b := range s.basis {
			without(direction, b)
		}
		unit(direction)
		rest[far] = make([]float64, n)
		s.basis = append(s.basis, direction)
		for _, v := range rest {
			without(v, direction)
		}
	}
	if len(s.basis) == n {
		return full(n), nil
	}
	s.share = make([]float64, len(s.basis))
	return s, nil
}

// without subtracts from v what it has along a unit vector.
func without(v, direction []float64) {
	along := inner(v, direction)
	for i, x := range direction {
		v[i] -= float64(along * x)
	}
}

// inner adds in ascending order.
func inner(a, b []float64) float64 {
	total := 0.0
	for i, x := range a {
		total += float64(x * b[i])
	}
	return total
}

// Dimension is the number of basis vectors.
func (s *span) Dimension() int { return len(s.basis) }

// Project adds up what v has along each basis vector.
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
