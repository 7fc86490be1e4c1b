package decision

import (
	"bytes"
	"slices"
	"strconv"

	"oriel/schemas/text"
)

// Form is the notation of the point of a decision.
type Form uint8

const (
	// Dense is an array with a number for each coordinate.
	Dense Form = iota

	// Sparse lists each nonzero value once, with the coordinates that have it:
	//
	//	{"dimension":5,"values":[0.75,0.25],"indices":[[0,3],[1]]}    for [0.75,0.25,0,0.75,0]
	//
	// Values are in falling order, the indices of each value in rising order, and no list is empty. So a point has
	// exactly one such text, and the text determines the point to the bit. A vertex of zeros and ones is one list; a
	// mix of k of them has at most 2^k − 1 lists, up to rounding.
	Sparse
)

// MaxSparse bounds the dimension of sparse decisions. With at most 34 bytes for a coordinate (24 for its value, 6 for
// its index, four separators) every decision stays below 8 MiB. Because the dimension is bounded, a reader's memory is
// bounded even for a short line.
const MaxSparse = 240_000

// bin is a coordinate of a point with its value.
type bin struct {
	value float64
	index int32
}

// bins sorts the nonzero coordinates, in memory that is reused.
type bins struct{ sorted []bin }

// sort sorts the nonzero coordinates of a point by falling value, then by rising index: O(k log k) for k of them. It
// returns the number of different values.
func (s *bins) sort(point []float64) (values int) {
	s.sorted = s.sorted[:0]
	for i, x := range point {
		if x != 0 {
			s.sorted = append(s.sorted, bin{x, int32(i)})
		}
	}
	slices.SortFunc(s.sorted, func(a, b bin) int {
		switch {
		case a.value > b.value:
			return -1
		case a.value < b.value:
			return 1
		}
		return int(a.index - b.index)
	})
	for rest := s.sorted; len(rest) > 0; rest = rest[equal(rest):] {
		values++
	}
	return values
}

// equal returns how many of the sorted bins have the same value as the first.
func equal(sorted []bin) int {
	n := 1
	for n < len(sorted) && sorted[n].value == sorted[0].value {
		n++
	}
	return n
}

// appendJSON appends a point in the form Sparse, as JSON.
func (s *bins) appendJSON(dst []byte, point []float64) []byte {
	s.sort(point)
	dst = append(dst, `{"dimension":`...)
	dst = strconv.AppendUint(dst, uint64(len(point)), 10)
	dst = append(dst, `,"values":[`...)
	for rest := s.sorted; len(rest) > 0; rest = rest[equal(rest):] {
		dst = append(text.AppendFloat(dst, rest[0].value), ',')
	}
	dst = append(withoutComma(dst), `],"indices":[`...)
	for rest := s.sorted; len(rest) > 0; rest = rest[equal(rest):] {
		dst = append(dst, '[')
		for _, b := range rest[:equal(rest)] {
			dst = append(strconv.AppendUint(dst, uint64(b.index), 10), ',')
		}
		dst = append(withoutComma(dst), `],`...)
	}
	return append(withoutComma(dst), `]}`...)
}

// withoutComma removes the comma after the last element of a list.
func withoutComma(dst []byte) []byte { return bytes.TrimSuffix(dst, []byte{','}) }

// isSparse reports whether a point of n coordinates may have these values: nonzero, falling, and at most n.
func isSparse(n uint64, values []float64) bool {
	for k, value := range values {
		if value == 0 || k > 0 && value >= values[k-1] {
			return false
		}
	}
	return n <= MaxSparse && uint64(len(values)) <= n
}

// set sets the value of coordinate i. It returns false if i is below least, out of range, or already set.
func set(point []float64, i, least uint64, value float64) bool {
	if i < least || i >= uint64(len(point)) || point[i] != 0 {
		return false
	}
	point[i] = value
	return true
}

// sparse reads exactly the output of bins.appendJSON. The result is never nil.
func (p *decisionParser) sparse() []float64 {
	p.literal(`{"dimension":`)
	n := p.uint()
	p.literal(`,"values":[`)
	values := p.point()
	p.literal(`],"indices":[`)
	if p.ok = p.ok && isSparse(n, values); !p.ok {
		return nil
	}
	point := make([]float64, n)
	for k, value := range values {
		if k > 0 {
			p.literal(`,`)
		}
		p.literal(`[`)
		p.coordinates(point, value)
		p.literal(`]`)
	}
	p.literal(`]}`)
	return point
}

// coordinates reads at least one rising index of coordinates without a value yet, and sets them.
func (p *decisionParser) coordinates(point []float64, value float64) {
	for least := uint64(0); p.ok; {
		i := p.uint()
		if p.ok = p.ok && set(point, i, least, value); !p.ok {
			return
		}
		least = i + 1
		if p.i == len(p.b) || p.b[p.i] != ',' {
			return
		}
		p.i++
	}
}
