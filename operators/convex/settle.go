package convex

// Settle moves a point of a set that rounding has moved, by about as much: sums are again what they are on the set, and
// coordinates within their ends.
func Settle(s Set, x []float64) {
	switch s := s.(type) {
	case Simplex:
		normalise(x, s.scale)
	case Partition:
		s.each(func(_, at int, b Subsets) { b.settle(x[at : at+b.n]) })
	case Matching:
		s.balance(x)
	case Flow:
		s.balance(x)
	case interface{ settle(x []float64) }:
		s.settle(x)
	}
}
