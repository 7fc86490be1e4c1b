package convex

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"oriel/operators"
)

// MaxCorners bounds the number of points of a Hull, because its diameter is searched among all pairs of them.
const MaxCorners = 4096

// Hull is the convex hull of listed points, some of which may not be vertices.
type Hull struct {
	shape
	corners [][]float64
}

// ParseCorner returns the canonical form of an entry, numbers separated by spaces, and whether it is valid: each number
// is finite and at most 1e15 in absolute value.
func ParseCorner(text string) (canonical string, ok bool) {
	corner, ok := corner(text)
	if !ok {
		return text, false
	}
	var parts []string
	for _, x := range corner {
		parts = append(parts, strconv.FormatFloat(x, 'g', -1, 64))
	}
	return strings.Join(parts, " "), true
}

func corner(text string) (out []float64, ok bool) {
	for _, part := range strings.Fields(text) {
		x, err := operators.ParseNumber(part)
		if err != nil || !(math.Abs(x) <= maxRadius) {
			return nil, false
		}
		out = append(out, x)
	}
	return out, len(out) > 0
}

// newHull reads entries in the form of ParseCorner, and scales them by the radius. Its errors name the position in the
// list, from 1.
func newHull(corners []string, n int, radius float64) (Hull, error) {
	if len(corners) < 2 || len(corners) > MaxCorners {
		return Hull{}, fmt.Errorf("convex: %d vertices: not 2 to %d", len(corners), MaxCorners)
	}
	h := Hull{shape: shape{name: "vertices", n: n}}
	for i, text := range corners {
		x, ok := corner(text)
		if !ok || len(x) != n {
			return Hull{}, fmt.Errorf("convex: vertex %d: not %d numbers up to 1e15 in size", i+1, n)
		}
		for j := range x {
			x[j] = float64(x[j] * radius)
		}
		for _, other := range h.corners {
			h.diameter = max(h.diameter, length(x, other))
		}
		h.maxNorm = max(h.maxNorm, length(x, nil))
		h.corners = append(h.corners, x)
	}
	if !(h.diameter >= minRadius && h.maxNorm <= maxRadius) {
		return Hull{}, fmt.Errorf("convex: vertices: %g apart at most and %g long: not at least %g and at most %g",
			h.diameter, h.maxNorm, minRadius, maxRadius)
	}
	return h, nil
}

// length returns |x − y|₂, or |x|₂ if y is nil.
func length(x, y []float64) float64 {
	square := 0.0
	for i, v := range x {
		if y != nil {
			v -= y[i]
		}
		square += float64(v * v)
	}
	return math.Sqrt(square)
}

// Start writes the mean of the points.
func (h Hull) Start(dst []float64) {
	clear(dst)
	for i := range h.corners {
		h.add(dst, i, 1/float64(len(h.corners)))
	}
}

// Minimise writes the point of least cost, the first in the list among equals.
func (h Hull) Minimise(dst, c []float64) { copy(dst, h.corners[h.minimiser(c)]) }

// LocalOracle returns an oracle that keeps a weight for each point. A move is not local, because κ depends on the
// faces, which are unknown: it may change all of x for every radius r.
func (h Hull) LocalOracle() LocalOracle { return newLocalVertices(h) }

func (h Hull) count() int { return len(h.corners) }

func (Hull) kappa() float64 { return math.Inf(1) }

func (Hull) start(weights []float64) { fill(weights, 1/float64(len(weights))) }

func (h Hull) cost(id int, c []float64) float64 { return inner(h.corners[id], c) }

func (h Hull) add(dst []float64, id int, weight float64) {
	for i, x := range h.corners[id] {
		dst[i] += float64(weight * x)
	}
}

func (h Hull) minimiser(c []float64) int {
	best, least := 0, math.Inf(1)
	for id := range h.corners {
		if cost := h.cost(id, c); cost < least {
			best, least = id, cost
		}
	}
	return best
}
