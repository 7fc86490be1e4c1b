package noise

import (
	"math"
	"math/bits"

	"oriel/mechanisms/noise/internal/tables"
)

// coarseFirst is the number of the coarse table's first segment: v·2^64 in [2^62, 2^63) is octave 0, the last one.
const coarseFirst = (1023 + 62 - (tables.CoarseOctaves - 1)) * tables.Segments

// segment returns the row of a folded word in the coarse table, and its t; at is not the index of a row if the word is
// beyond the table.
//
// The table is indexed by v·2^64 rounded to a float64: exponent and six bits of the fraction are a segment's number,
// and the rest of the fraction is h. The direction of rounding does not matter, even into the next segment, because
// segment and h come from the same float64 and the error bound covers the distance. One bound for all octaves, near
// 2^-50, makes the loop of round short. It leaves one draw in 2^8 in doubt, and more for scales above 2^40. The fine
// table decides these draws.
func segment(folded int64) (at, t uint64) {
	b := math.Float64bits(float64(folded))
	return b>>46 - coarseFirst, ^(b << 18)
}

// eval returns x. Horner's floors lose less than tables.CoarseDegree units, and the stored c0 includes half of the
// loss.
func eval(row *tables.CoarseRow, t uint64) (x uint64) {
	s, _ := bits.Mul64(row[5], t)
	s, _ = bits.Mul64(row[4]+s, t)
	s, _ = bits.Mul64(row[3]+s, t)
	s, _ = bits.Mul64(row[2]+s, t)
	s, _ = bits.Mul64(row[1]+s, t)
	return row[0] + s
}

// rounder turns words into draws with the coarse table.
type rounder struct {
	table *tables.Coarse
	mant  uint64
	shift uint
	window
}

// rounder returns the rounder of a scale.
func (c *curve) rounder(f factor) rounder {
	return rounder{table: c.coarse, mant: f.mant, shift: f.shift, window: f.window(c.coarseSlack)}
}

// round replaces the words in dst by their draws up to the first draw in doubt. It returns the index of that word, or
// the length of dst.
func (r *rounder) round(dst []int64) int {
	table, mant, shift, offset, low, width := r.table, r.mant, r.shift, r.offset, r.low, r.width
	for i, word := range dst {
		mask := word >> 63 // the sign mask, as in fold
		at, t := segment(word ^ mask)
		if at >= uint64(len(table)) {
			return i
		}
		y, _ := bits.Mul64(eval(&table[at], t), mant)
		y += offset
		if y&low >= width {
			return i
		}
		dst[i] = (mask - int64(y>>(shift&63))) ^ mask // applies the sign, as in signed
	}
	return len(dst)
}
