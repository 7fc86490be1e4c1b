package ball

import (
	"math"

	"oriel/mechanisms/lattice"
	"oriel/operators/convex"
	"oriel/operators/convex/oracle"
	"oriel/operators/convex/shape"
)

// L1 is {|x|₁ ≤ R}, the polytope with vertices ±R·e_i.
type L1 struct {
	shape.Shape
	Radius float64
}

func NewL1(n int, radius float64) L1 {
	return L1{shape.New("l1-ball", n, float64(2*radius), radius), radius}
}

// Minimise writes −R·sign(c_j)·e_j for the largest |c_j|, the lowest j among equals, and R·e_0 for c = 0.
func (b L1) Minimise(dst, c []float64) {
	clear(dst)
	L1Vertices{b}.Add(dst, L1Vertices{b}.Minimiser(c), 1)
}

// Projection returns a projection that projects |x| to the simplex of scale R, and then restores the signs.
func (b L1) Projection() convex.Projection {
	return &l1Projection{b.Radius, make([]float64, b.N), threshold{b.Radius, oracle.NewDescending(b.N)}}
}

type l1Projection struct {
	radius   float64
	absolute []float64
	simplex  threshold
}

func (p *l1Projection) Project(dst, x []float64) {
	for i, v := range x {
		p.absolute[i] = math.Abs(v)
	}
	if shape.Sum(p.absolute) <= p.radius {
		copy(dst, x)
		return
	}
	p.simplex.Project(p.absolute, p.absolute)
	for i, v := range x {
		dst[i] = math.Copysign(p.absolute[i], v)
	}
}

// LocalOracle returns the general form over the 2n vertices. It starts at the centre, represented as ½(R·e_0) +
// ½(−R·e_0).
func (b L1) LocalOracle() convex.LocalOracle { return oracle.NewVertices(L1Vertices{b}) }

// L1Vertices numbers the vertices: 2i is R·e_i, and 2i+1 is −R·e_i.
//
// κ = √n/R. Moving from x to y shrinks |x_j| at some coordinates, by m in total, and grows it at others, by g in total.
// (A coordinate that crosses zero does both.) Weight m/R is taken from the vertices of shrinking coordinates. If g > m,
// a further weight (g−m)/R is taken in equal components from pairs ±R·e_i, which changes no coordinate. These pairs
// have the weight 1 − |x|₁/R, which is enough because |y|₁ = |x|₁ + g − m ≤ R. So moving a weight of max(g, m)/R ≤
// |x−y|₁/R ≤ √n·|x−y|₂/R reaches y.
type L1Vertices struct{ L1 }

func (v L1Vertices) Count() int { return 2 * v.N }

func (v L1Vertices) StartWeights(weights []float64) { weights[0], weights[1] = 0.5, 0.5 }

func (v L1Vertices) Kappa() float64 { return math.Sqrt(float64(v.N)) / v.Radius }

func (v L1Vertices) signed(id int) float64 {
	if id&1 == 1 {
		return -v.Radius
	}
	return v.Radius
}

func (v L1Vertices) Cost(id int, c []float64) float64 { return float64(v.signed(id) * c[id/2]) }

func (v L1Vertices) Add(dst []float64, id int, weight float64) {
	dst[id/2] += float64(weight * v.signed(id))
}

func (v L1Vertices) Minimiser(c []float64) int {
	best := 0
	for i, x := range c {
		if math.Abs(x) > math.Abs(c[best]) {
			best = i
		}
	}
	if c[best] > 0 {
		return 2*best + 1
	}
	return 2 * best
}

// Inner uses |x|₁ ≤ √n·|x|₂.
func (b L1) Inner([]float64) (float64, error) { return b.Radius / math.Sqrt(float64(b.N)), nil }

// L2 is the ℓ2 ball of radius R.
type L2 struct {
	shape.Shape
	Radius float64
}

func NewL2(n int, radius float64) L2 {
	return L2{shape.New("l2-ball", n, float64(2*radius), radius), radius}
}

// Projection returns b itself, because scaling a point to norm R needs no scratch space.
func (b L2) Projection() convex.Projection { return b }

// Project writes the nearest point of the ball.
func (b L2) Project(dst, x []float64) {
	norm := lattice.Norm(x)
	if norm <= b.Radius {
		copy(dst, x)
		return
	}
	factor := b.Radius / norm
	for i, v := range x {
		dst[i] = float64(v * factor)
	}
}

// Minimise writes −R·c/|c|, and 0 for c = 0.
func (b L2) Minimise(dst, c []float64) {
	norm := lattice.Norm(c)
	if norm == 0 {
		clear(dst)
		return
	}
	factor := -b.Radius / norm
	for i, v := range c {
		dst[i] = float64(v * factor)
	}
}

func (b L2) Inner([]float64) (float64, error) { return b.Radius, nil }
