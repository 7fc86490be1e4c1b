package hull

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"oriel/operators/convex"
	"oriel/operators/convex/oracle"
	"oriel/operators/convex/shape"
	"oriel/operators/moments"
	"oriel/operators/setting"
)

// MaxCorners bounds the number of points of a Hull, because its diameter is searched among all pairs of them.
const MaxCorners = 4096

// Hull is the convex hull of listed points, some of which may not be vertices.
type Hull struct {
	shape.Shape
	Corners [][]float64
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
		x, err := setting.ParseNumber(part)
		if err != nil || !(math.Abs(x) <= shape.MaxRadius) {
			return nil, false
		}
		out = append(out, x)
	}
	return out, len(out) > 0
}

// New reads entries in the form of ParseCorner, and scales them by the radius. Its errors name the position in the
// list, from 1.
func New(corners []string, n int, radius float64) (Hull, error) {
	if len(corners) < 2 || len(corners) > MaxCorners {
		return Hull{}, fmt.Errorf("convex: %d vertices: not 2 to %d", len(corners), MaxCorners)
	}
	h := Hull{Shape: shape.New("vertices", n, 0, 0)}
	for i, text := range corners {
		x, ok := corner(text)
		if !ok || len(x) != n {
			return Hull{}, fmt.Errorf("convex: vertex %d: not %d numbers up to 1e15 in size", i+1, n)
		}
		for j := range x {
			x[j] = float64(x[j] * radius)
		}
		for _, other := range h.Corners {
			h.D = max(h.D, shape.Length(x, other))
		}
		h.M = max(h.M, shape.Length(x, nil))
		h.Corners = append(h.Corners, x)
	}
	if !(h.D >= shape.MinRadius && h.M <= shape.MaxRadius) {
		return Hull{}, fmt.Errorf("convex: vertices: %g apart at most and %g long: not at least %g and at most %g",
			h.D, h.M, shape.MinRadius, shape.MaxRadius)
	}
	return h, nil
}

// Of returns the hull of points that lie in a set with the given properties.
func Of(s shape.Shape, corners [][]float64) Hull { return Hull{s, corners} }

// Start writes the mean of the points.
func (h Hull) Start(dst []float64) {
	clear(dst)
	for i := range h.Corners {
		h.Add(dst, i, 1/float64(len(h.Corners)))
	}
}

// Minimise writes the point of least cost, the first in the list among equals.
func (h Hull) Minimise(dst, c []float64) { copy(dst, h.Corners[h.Minimiser(c)]) }

// LocalOracle returns an oracle that keeps a weight for each point. A move is not local, because κ depends on the
// faces, which are unknown: it may change all of x for every radius r.
func (h Hull) LocalOracle() convex.LocalOracle { return oracle.NewVertices(h) }

func (h Hull) Count() int { return len(h.Corners) }

func (Hull) Kappa() float64 { return math.Inf(1) }

func (Hull) StartWeights(weights []float64) { shape.Fill(weights, 1/float64(len(weights))) }

func (h Hull) Cost(id int, c []float64) float64 { return inner(h.Corners[id], c) }

func (h Hull) Add(dst []float64, id int, weight float64) {
	for i, x := range h.Corners[id] {
		dst[i] += float64(weight * x)
	}
}

func (h Hull) Minimiser(c []float64) int {
	best, least := 0, math.Inf(1)
	for id := range h.Corners {
		if cost := h.Cost(id, c); cost < least {
			best, least = id, cost
		}
	}
	return best
}

// maxSolved is the largest dimension of a system of equations.
const maxSolved = 512

// Inner uses the mean of the points as centre. Let x_i be the vector from the centre to a point, and G = Σ x_i·x_iᵀ.
// The mean changes by y if the weight 1/N of each point changes by ⟨x_i, G⁻¹y⟩. No weight becomes negative as long as
// |y| ≤ 1/(N·max|G⁻¹x_i|).
func (h Hull) Inner([]float64) (float64, error) {
	tangent, err := h.Tangent()
	if err != nil {
		return 0, err
	}
	m := tangent.Dimension()
	if m == 0 || m > maxSolved {
		return 0, fmt.Errorf("convex: vertices: of %d dimensions; a ball in them is computed for 1 to %d", m, maxSolved)
	}
	middle := make([]float64, h.Dimension())
	h.Start(middle)
	points, g := make([][]float64, len(h.Corners)), moments.Symmetric{Size: m, Values: make([]float64, m*(m+1)/2)}
	for i, corner := range h.Corners {
		x := make([]float64, len(corner))
		for j, v := range corner {
			x[j] = (v - middle[j]) / h.D
		}
		if flat, ok := tangent.(*span); ok {
			x = flat.along(x)
		}
		points[i] = x
		at := 0
		for j, a := range x {
			for _, b := range x[j:] {
				g.Values[at] += float64(a * b)
				at++
			}
		}
	}
	factor := moments.NewCholesky(m)
	if !factor.Factor(g, 1, 0) {
		return 0, errors.New("convex: vertices: too flat for a ball in them")
	}
	longest := 0.0
	for _, x := range points {
		factor.Solve(x, x)
		longest = max(longest, shape.Length(x, nil))
	}
	return h.D / float64(float64(len(h.Corners))*longest), nil
}

// along returns the coordinates of v in the basis of the span.
func (s *span) along(v []float64) []float64 {
	x := make([]float64, len(s.basis))
	for k, b := range s.basis {
		x[k] = inner(v, b)
	}
	return x
}
