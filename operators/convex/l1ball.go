package convex

import "math"

// L1Ball is {|x|₁ ≤ R}, the polytope with vertices ±R·e_i.
type L1Ball struct {
	shape
	radius float64
}

func newL1Ball(n int, radius float64) L1Ball {
	return L1Ball{shape{"l1-ball", n, float64(2 * radius), radius}, radius}
}

// Minimise writes −R·sign(c_j)·e_j for the largest |c_j|, the lowest j among equals, and R·e_0 for c = 0.
func (b L1Ball) Minimise(dst, c []float64) {
	clear(dst)
	l1Vertices{b}.add(dst, l1Vertices{b}.minimiser(c), 1)
}

// Projection returns a projection that projects |x| to the simplex of scale R, and then restores the signs.
func (b L1Ball) Projection() Projection {
	return &l1Projection{b.radius, make([]float64, b.n), threshold{b.radius, newDescending(b.n)}}
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
	if sum(p.absolute) <= p.radius {
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
func (b L1Ball) LocalOracle() LocalOracle { return newLocalVertices(l1Vertices{b}) }

// l1Vertices numbers the vertices: 2i is R·e_i, and 2i+1 is −R·e_i.
//
// κ = √n/R. Moving from x to y shrinks |x_j| at some coordinates, by m in total, and grows it at others, by g in total.
// (A coordinate that crosses zero does both.) Weight m/R is taken from the vertices of shrinking coordinates. If g > m,
// a further weight (g−m)/R is taken in equal components from pairs ±R·e_i, which changes no coordinate. These pairs
// have the weight 1 − |x|₁/R, which is enough because |y|₁ = |x|₁ + g − m ≤ R. So moving a weight of max(g, m)/R ≤
// |x−y|₁/R ≤ √n·|x−y|₂/R reaches y.
type l1Vertices struct{ L1Ball }

func (v l1Vertices) count() int { return 2 * v.n }

func (v l1Vertices) start(weights []float64) { weights[0], weights[1] = 0.5, 0.5 }

func (v l1Vertices) kappa() float64 { return math.Sqrt(float64(v.n)) / v.radius }

func (v l1Vertices) signed(id int) float64 {
	if id&1 == 1 {
		return -v.radius
	}
	return v.radius
}

func (v l1Vertices) cost(id int, c []float64) float64 { return float64(v.signed(id) * c[id/2]) }

func (v l1Vertices) add(dst []float64, id int, weight float64) {
	dst[id/2] += float64(weight * v.signed(id))
}

func (v l1Vertices) minimiser(c []float64) int {
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
