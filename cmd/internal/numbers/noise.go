package numbers

import (
	"cmp"
	"slices"
)

// span is the steps (from, to].
type span struct{ from, to uint64 }

func (s span) steps() uint64 { return s.to - s.from }

// join sorts spans and merges adjacent ones.
func join(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	joined := spans[:0]
	for _, s := range spans {
		if n := len(joined); n > 0 && joined[n-1].to == s.from {
			joined[n-1].to = s.to
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// ofCount returns the variance of the noise in the count over all that a stream has added to an interval.
func (p *partial) ofCount() float64 {
	return p.deviation * p.deviation * p.filter.of(p.spans)
}
