package convex

// Settle corrects a point that rounding has moved off its set, by a movement of about that size. It restores sums to
// their values on the set, and coordinates to their ranges.
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
