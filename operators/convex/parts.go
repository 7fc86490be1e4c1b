package convex

import "errors"

// parts is a polytope {Ax = b, x ≥ 0} whose vertices have one value R at some coordinates and 0 elsewhere. Its methods
// return a vertex as the list of these coordinates, in memory that the next call may overwrite.
type parts interface {
	whole() float64                   // R
	kappa() float64                   // κ of operators/coco/SPEC.md §7.4: mass κ·R·r reaches every point within r
	best(c []float64) []int32         // a vertex of least cost
	worst(c, x []float64) []int32     // a vertex of largest cost within the support of x; nil: there is none
	balance(x []float64)              // makes x ≥ 0 a point of the set; a point with rounding moves by the rounding
	check(at func(int) float64) error // whether the coordinates balance
}

// localParts is the general local oracle, operators/coco/SPEC.md §7.2, without a stored decomposition. It takes the
// vertex of largest cost from x, with as much mass as x holds of it. The rest of x is a point of the set again, up to
// scale, in which no vertex costs more than those before. So repeating this decomposes x in descending order of cost,
// and its first Δ are the mass that the general form takes. Each vertex taken empties a coordinate. Any decomposition
// is valid (Garber and Hazan 2013, Lemma 5.3), and this one never grows.
type localParts struct {
	parts
	x, left []float64
	ratio   float64
}

func newLocalParts(s Set, p parts) *localParts {
	o := &localParts{
		parts: p, x: make([]float64, s.Dimension()), left: make([]float64, s.Dimension()),
		ratio: max(1, float64(p.kappa()*s.Diameter())),
	}
	s.Start(o.x)
	return o
}

func (o *localParts) Point() []float64 { return o.x }

// Ratio returns κD.
func (o *localParts) Ratio() float64 { return o.ratio }

func (o *localParts) Move(alpha, r float64, c []float64) {
	whole := o.whole()
	mass := min(float64(float64(o.kappa()*r)*whole), whole)
	if mass == whole { // all of x is taken, so that the order does not matter
		for i, v := range o.x {
			o.x[i] = float64((1 - alpha) * v)
		}
	} else {
		o.take(alpha, mass, c)
	}
	for _, i := range o.best(c) {
		o.x[i] += float64(alpha * mass)
	}
	o.balance(o.x)
}

// take removes the share α of the mass that costs most.
func (o *localParts) take(alpha, mass float64, c []float64) {
	copy(o.left, o.x)
	for rest := mass; rest > 0; {
		vertex := o.worst(c, o.left)
		if vertex == nil {
			break // rounding left no whole one
		}
		some := rest
		for _, i := range vertex {
			some = min(some, o.left[i])
		}
		for _, i := range vertex {
			o.left[i] -= some
			o.x[i] = max(0, o.x[i]-float64(alpha*some))
		}
		rest -= some
	}
}

func (o *localParts) AppendState(dst []byte) []byte { return appendFloats(dst, o.x) }

func (o *localParts) StateLen() int { return 8 * len(o.x) }

// Restore accepts only a point of the set.
func (o *localParts) Restore(state []byte) error {
	if len(state) != o.StateLen() {
		return errStateLen
	}
	at := func(i int) float64 { return floatAt(state, i) }
	for i := range o.x {
		if v := at(i); !(v >= 0 && v <= o.whole()*(1+sumTolerance)) {
			return errors.New("convex: state: coordinate out of range")
		}
	}
	if err := o.check(at); err != nil {
		return err
	}
	readFloats(o.x, state)
	return nil
}
