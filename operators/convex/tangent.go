package convex

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
