package convex

// Tangent is the tangent space of a set: the directions in which it extends, the linear part of its affine hull. Its
// orthogonal complement changes no decision, since ⟨c, x⟩ is constant on the set for c in it. A Tangent owns scratch
// space: one machine, one Tangent.
type Tangent interface {
	Dimension() int      // that of the space, 0 for a set of one point
	Project(v []float64) // projects v, in place and orthogonally; allocates nothing
}

// NewTangent returns the tangent space of a set. It has an error for a flow or vertices where a projection would cost
// more than an event is worth.
func NewTangent(s Set) (Tangent, error) {
	if t, ok := s.(interface{ tangent() (Tangent, error) }); ok {
		return t.tangent()
	}
	return full(s.Dimension()), nil
}

// EarlierTangent returns the space on which contributions were projected before NewTangent knew all sets: all
// directions of flows and vertices, and of trees those in which only the sum of all edges is constant.
func EarlierTangent(s Set) Tangent {
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

// full is the space of all directions, that of a set with an interior.
type full int

func (n full) Dimension() int { return int(n) }

func (full) Project([]float64) {}

// centred is a product of spaces of vectors that sum to 0: of so many coordinates each, one block behind the other.
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

// scattered is centred for blocks whose coordinates are listed.
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
