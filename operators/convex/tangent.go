package convex

// Tangent is the tangent space of a set: the directions in which it extends, the linear part of its affine hull.
// Components of a cost c in its orthogonal complement change no decision, because ⟨c, x⟩ is then constant on the set. A
// Tangent owns scratch space, so that each machine must have its own.
type Tangent interface {
	Dimension() int      // dimension of the space, 0 for a set of one point
	Project(v []float64) // projects v orthogonally and in place, without allocations
}

// NewTangent returns the tangent space of a set. It returns an error for a flow or vertices if a projection would be
// too expensive for each event.
func NewTangent(s Set) (Tangent, error) {
	if t, ok := s.(interface{ tangent() (Tangent, error) }); ok {
		return t.tangent()
	}
	return full(s.Dimension()), nil
}

// CoarseTangent returns a space that contains the tangent space and is cheap for every set. For flows and vertices it
// has all directions, and for trees the directions in which the sum of all edges is 0. For other sets it is the tangent
// space.
func CoarseTangent(s Set) Tangent {
	switch s.(type) {
	case Flow, Hull:
		return full(s.Dimension())
	case Trees:
		return centred{s.Dimension()}
	}
	t, err := NewTangent(s)
	if err != nil {
		panic("BUG: convex: the tangent space of " + s.Name() + ": " + err.Error())
	}
	return t
}

// full is the space of all directions, for a set with an interior.
type full int

func (n full) Dimension() int { return int(n) }

func (full) Project([]float64) {}

// centred is a product of spaces, one for each consecutive block of the listed sizes. Each space has the vectors whose
// entries sum to 0.
type centred []int

func (b centred) Dimension() int {
	dimension := 0
	for _, n := range b {
		dimension += n - 1
	}
	return dimension
}

func (b centred) Project(v []float64) {
	at := 0
	for _, n := range b {
		block := v[at : at+n]
		mean := sum(block) / float64(n)
		for i := range block {
			block[i] -= mean
		}
		at += n
	}
}

// scattered is like centred, for blocks that are lists of coordinates.
type scattered [][]int32

func (b scattered) Dimension() int {
	dimension := 0
	for _, block := range b {
		dimension += len(block) - 1
	}
	return dimension
}

func (b scattered) Project(v []float64) {
	for _, block := range b {
		total := 0.0
		for _, i := range block {
			total += v[i]
		}
		mean := total / float64(len(block))
		for _, i := range block {
			v[i] -= mean
		}
	}
}
