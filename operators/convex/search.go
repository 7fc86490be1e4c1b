package convex

// Search moves a local oracle along segments to linear minimisers, each time to the minimum of an objective on the
// segment.
type Search struct {
	oracle LocalOracle
	linear LinearOracle
	vertex []float64 // v, the linear minimiser
	reach  float64   // D: a move with this radius reaches every point, so it goes towards v
}

// NewSearch returns a search for a set and an oracle of it.
func NewSearch(s Set, o LocalOracle) *Search {
	return &Search{oracle: o, linear: NewLinearOracle(s), vertex: make([]float64, s.Dimension()), reach: s.Diameter()}
}

// Step moves to the minimum of J on the segment from x to v. With slope c at x and curvature b, J(x + γ(v−x)) = J(x) −
// γ⟨c, x−v⟩ + γ²b|v−x|²/2. The minimum is at γ = ⟨c, x−v⟩/(b|v−x|²), or at 1 if 1 is less (Jaggi, Revisiting
// Frank-Wolfe, ICML 2013, algorithm 2). Step returns false at the minimiser of J, where no segment descends.
func (s *Search) Step(slope []float64, curvature float64) bool {
	s.linear.Minimise(s.vertex, slope)
	x, gap, square := s.oracle.Point(), 0.0, 0.0
	v, c := s.vertex[:len(x)], slope[:len(x)]
	for i := range x {
		away := x[i] - v[i]
		gap += float64(c[i] * away)
		square += float64(away * away)
	}
	if !(gap > 0 && square > 0) {
		return false
	}
	share := min(1, gap/float64(curvature*square))
	if o, ok := s.oracle.(Toward); ok {
		o.Toward(share, s.vertex)
		return true
	}
	s.oracle.Move(share, s.reach, slope)
	return true
}

// nearSteps bounds the steps of Nearest and Begin. After t steps the squared distance is at most 2D²/t above its
// minimum, and on most sets far less.
const nearSteps = 256

// approach moves towards x by searched steps on |y − x|²/2.
func (s *Search) approach(x []float64) {
	slope := make([]float64, len(x))
	for range nearSteps {
		for i, y := range s.oracle.Point() {
			slope[i] = y - x[i]
		}
		if !s.Step(slope, 1) {
			return
		}
	}
}

// Nearest returns the point of a set that is nearest to x. On a set without a projection it returns x itself if a cheap
// test shows that x is in the set, and otherwise an approximation after nearSteps steps.
func Nearest(s Set, x []float64) ([]float64, error) {
	near := make([]float64, len(x))
	if p, err := NewProjection(s); err == nil {
		p.Project(near, x)
		return near, nil
	}
	o, err := NewLocalOracle(s)
	if err != nil {
		return nil, err
	}
	if b, ok := o.(*localZeroOne); !ok || b.Restore(appendFloats(nil, x)) != nil {
		NewSearch(s, o).approach(x)
	}
	copy(near, o.Point())
	return near, nil
}

// Begin moves a new oracle of a set to a point that Nearest has returned. An oracle that stores weights of vertices
// only gets close to it.
func Begin(s Set, o LocalOracle, x []float64) {
	if _, weights := o.(*localVertices); weights || o.Restore(appendFloats(nil, x)) != nil {
		NewSearch(s, o).approach(x)
	}
}
