package operators

import (
	"math"
	"strconv"
	"strings"
)

// maxEnd bounds the ends of a public range.
const maxEnd = 1e12

// ParseEnds reads the ends of a public range: numbers up to 1e12 in size, the second above the first by 1e-12 or more.
func ParseEnds(low, high string) (from, to float64, ok bool) {
	from, err := strconv.ParseFloat(strings.TrimSpace(low), 64)
	to, other := strconv.ParseFloat(strings.TrimSpace(high), 64)
	ok = err == nil && other == nil && math.Abs(from) <= maxEnd && math.Abs(to) <= maxEnd && to-from >= 1/maxEnd
	return from + 0, to + 0, ok // no −0
}
