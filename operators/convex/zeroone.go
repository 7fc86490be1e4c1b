package convex

// zeroOne is R times a 0/1 polytope {Ax = b, x ≥ 0}: its vertices have R at some coordinates and 0 elsewhere. Methods
// return a vertex as the list of these coordinates, in memory that the next call may overwrite.
type zeroOne interface {
	Set
	total() float64               // R, the coordinate of a vertex that is not 0
	kappa() float64               // κ of operators/coco/SPEC.md §7.4: moving mass κ·R·r reaches all points within r
	best(c []float64) []int32     // returns a vertex of least cost
	worst(c, x []float64) []int32 // returns a vertex of largest cost within the support of x, or nil if there is none
	settle(x []float64)           // makes x ≥ 0 a point of the set, and removes rounding errors
	check(x []float64) error      // returns an error if the coordinates do not balance
}

// localZeroOne is the general local oracle, operators/coco/SPEC.md §7.2, without a stored decomposition. It takes the
// vertex of largest cost from x, with as much mass as x contains of this vertex. The rest of x is again a point of the
// set, up to scale, and none of its vertices costs more. Repeating this decomposes x in descending order of cost, and
// the first Δ of mass is what the general form takes. The decomposition is finite, because each vertex that is taken
// makes a coordinate 0. Any decomposition is valid (Garber and Hazan 2013, Lemma 5.3), and this one needs no memory.
type localZeroOne struct {
	point
	set  zeroOne
	left []float64
}

func newLocalZeroOne(s zeroOne) *localZeroOne {
	check := func(x []float64) error {
		if err := checkRange(x, float64(s.total()*(1+sumTolerance))); err != nil {
			return err
		}
		return s.check(x)
	}
	return &localZeroOne{newPoint(s, check), s, make([]float64, s.Dimension())}
}

// Ratio returns ρ = κD, at least 1.
func (o *localZeroOne) Ratio() float64 { return max(1, float64(o.set.kappa()*o.set.Diameter())) }

func (o *localZeroOne) Move(alpha, r float64, c []float64) {
	total := o.set.total()
	mass := min(float64(float64(o.set.kappa()*r)*total), total)
	if mass == total { // all of x is taken, so the order of vertices does not matter
		for i, v := range o.x {
			o.x[i] = float64((1 - alpha) * v)
		}
	} else {
		o.take(alpha, mass, c)
	}
	for _, i := range o.set.best(c) {
		o.x[i] += float64(alpha * mass)
	}
	o.set.settle(o.x)
}

// take removes the share α of the given mass, from the most expensive vertices first.
func (o *localZeroOne) take(alpha, mass float64, c []float64) {
	copy(o.left, o.x)
	for rest := mass; rest > 0; {
		vertex := o.set.worst(c, o.left)
		if vertex == nil {
			break // rounding has left no vertex in the support
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
