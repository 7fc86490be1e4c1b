package schemas

import (
	"slices"
	"strconv"
)

// Form is how decisions print their point.
type Form uint8

const (
	// Dense is an array with a number for each coordinate.
	Dense Form = iota

	// Sparse says each value that is not zero once, and which coordinates have it:
	//
	//	{"dimension":5,"values":[0.75,0.25],"indices":[[0,3],[1]]}    for [0.75,0.25,0,0.75,0]
	//
	// Values fall, the indices of each rise from 0 on, and no list is empty: a point has one such text. It is the point
	// to the bit. A vertex of zeros and ones is one list; a mix of k of them has at most 2^k − 1 lists, up to rounding.
	Sparse
)

// MaxSparse bounds the dimension of sparse decisions: with 34 bytes a coordinate (24 of its value, 6 of its index, four
// marks) one stays below 8 MiB, whatever it says. A reader holds as many numbers for a line of any length.
const MaxSparse = 240_000

// bin is a coordinate of a point.
type bin struct {
	value float64
	index int32
}

// bins sorts the coordinates that are not zero, in memory that is used again.
type bins struct{ sorted []bin }

// append prints a point in the form Sparse: O(k log k), k coordinates that are not zero.
func (s *bins) append(dst []byte, point []float64) []byte {
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
	dst = append(dst, `{"dimension":`...)
	dst = strconv.AppendUint(dst, uint64(len(point)), 10)
	dst = append(dst, `,"values":[`...)
	for k, b := range s.sorted {
		if k > 0 && b.value == s.sorted[k-1].value {
			continue
		}
		if k > 0 {
			dst = append(dst, ',')
		}
		dst = AppendFloat(dst, b.value)
	}
	dst = append(dst, `],"indices":[`...)
	for k, b := range s.sorted {
		switch {
		case k == 0:
			dst = append(dst, '[')
		case b.value == s.sorted[k-1].value:
			dst = append(dst, ',')
		default:
			dst = append(dst, `],[`...)
		}
		dst = strconv.AppendUint(dst, uint64(b.index), 10)
	}
	if len(s.sorted) > 0 {
		dst = append(dst, ']')
	}
	return append(dst, `]}`...)
}

// sparse reads what bins.append prints, and nothing else. It returns a non-nil slice.
func (p *decisionParser) sparse() []float64 {
	p.literal(`{"dimension":`)
	n := p.uint()
	p.literal(`,"values":[`)
	values := p.point()
	p.literal(`],"indices":[`)
	if p.ok = p.ok && n <= MaxSparse && uint64(len(values)) <= n; !p.ok {
		return nil
	}
	point := make([]float64, n)
	for k, value := range values {
		if k > 0 {
			p.literal(`,`)
			p.ok = p.ok && value < values[k-1]
		}
		p.ok = p.ok && value != 0
		p.literal(`[`)
		p.coordinates(point, value)
		p.literal(`]`)
	}
	p.literal(`]}`)
	return point
}

// coordinates reads rising indices of coordinates that have no value yet, one at least, and sets them.
func (p *decisionParser) coordinates(point []float64, value float64) {
	for least := uint64(0); p.ok; {
		i := p.uint()
		if p.ok = p.ok && i >= least && i < uint64(len(point)) && point[i] == 0; !p.ok {
			return
		}
		point[i], least = value, i+1
		if p.i == len(p.b) || p.b[p.i] != ',' {
			return
		}
		p.i++
	}
}
