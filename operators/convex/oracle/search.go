package oracle

import (
	"encoding/binary"
	"errors"
	"math"

	"oriel/operators/convex"
)

// Search moves a local oracle along segments to linear minimisers, each time to the minimum of an objective on the
// segment.
type Search struct {
	oracle convex.LocalOracle
	linear convex.LinearOracle
	vertex []float64 // v, the linear minimiser
	reach  float64   // D: a move with this radius reaches every point, so it goes towards v
}

// NewSearch returns a search for a set and an oracle of it.
func NewSearch(s convex.Set, o convex.LocalOracle) *Search {
	return &Search{
		oracle: o,
		linear: convex.NewLinearOracle(s),
		vertex: make([]float64, s.Dimension()),
		reach:  s.Diameter(),
	}
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
	if o, ok := s.oracle.(convex.Toward); ok {
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
func Nearest(s convex.Set, x []float64) ([]float64, error) {
	near := make([]float64, len(x))
	if p, err := convex.NewProjection(s); err == nil {
		p.Project(near, x)
		return near, nil
	}
	o, err := convex.NewLocalOracle(s)
	if err != nil {
		return nil, err
	}
	if b, ok := o.(*localZeroOne); !ok || b.Restore(AppendFloats(nil, x)) != nil {
		NewSearch(s, o).approach(x)
	}
	copy(near, o.Point())
	return near, nil
}

// Begin moves a new oracle of a set to a point that Nearest has returned. An oracle that stores weights of vertices
// only gets close to it.
func Begin(s convex.Set, o convex.LocalOracle, x []float64) {
	if _, weights := o.(*localVertices); weights || o.Restore(AppendFloats(nil, x)) != nil {
		NewSearch(s, o).approach(x)
	}
}

// State stores x for a LocalOracle that has no other state.
type State struct {
	X     []float64
	check func(x []float64) error // returns an error if x is not a point of the set
}

func NewState(s convex.Set, check func(x []float64) error) State {
	p := State{make([]float64, s.Dimension()), check}
	s.Start(p.X)
	return p
}

func (p *State) Point() []float64 { return p.X }

func (p *State) AppendState(dst []byte) []byte { return AppendFloats(dst, p.X) }

func (p *State) StateLen() int { return 8 * len(p.X) }

// Restore accepts only a point of the set.
func (p *State) Restore(state []byte) error { return restore(p.X, state, p.check) }

func AppendFloats(dst []byte, v []float64) []byte {
	for _, f := range v {
		dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
	}
	return dst
}

// restore reads numbers that AppendFloats has written. If check returns an error for them, it leaves dst unchanged.
func restore(dst []float64, state []byte, check func([]float64) error) error {
	if len(state) != 8*len(dst) {
		return errors.New("convex: state: wrong length")
	}
	v := make([]float64, len(dst))
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(state[8*i:]))
	}
	if err := check(v); err != nil {
		return err
	}
	copy(dst, v)
	return nil
}
