package convex

// Search moves a local oracle along segments to linear minimisers, to the least point of an objective on each.
type Search struct {
	oracle LocalOracle
	linear LinearOracle
	vertex []float64 // v, the linear minimiser
	reach  float64   // D: within it are all points, so that a move goes towards v
}

// NewSearch takes a set and an oracle of it.
func NewSearch(s Set, o LocalOracle) *Search {
	return &Search{oracle: o, linear: NewLinearOracle(s), vertex: make([]float64, s.Dimension()), reach: s.Diameter()}
}

// Step moves to the least point of J on the way to v: J(x + γ(v−x)) = J(x) − γ⟨c, x−v⟩ + γ²b|v−x|²/2 with the slope c
// at x and the curvature b, least at γ = ⟨c, x−v⟩/(b|v−x|²) or at 1 (Jaggi, Revisiting Frank-Wolfe, ICML 2013,
// algorithm 2). It reports false at the minimiser of J, where no way leads down.
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

// nearSteps bounds the steps of Nearest and Begin: after t of them the squared distance is 2D²/t above the least at
// most, and on most sets far less.
const nearSteps = 256

// approach moves towards x by steps on |y − x|²/2.
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

// Nearest returns the point of a set that is nearest to x. On a set without a projection it is x itself if that can be
// told to be in the set, else a point as near as nearSteps come.
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
	if parts, ok := o.(*localParts); !ok || parts.Restore(appendFloats(nil, x)) != nil {
		NewSearch(s, o).approach(x)
	}
	copy(near, o.Point())
	return near, nil
}

// Begin moves a new oracle of a set to a point that Nearest has returned. An oracle that keeps weights of vertices only
// comes near to it.
func Begin(s Set, o LocalOracle, x []float64) {
	if _, weights := o.(*localVertices); weights || o.Restore(appendFloats(nil, x)) != nil {
		NewSearch(s, o).approach(x)
	}
}
