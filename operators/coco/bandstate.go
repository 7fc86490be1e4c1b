package coco

import (
	"encoding/binary"
	"errors"
	"math"

	"oriel/operators"
)

// fields are what a state holds of a band: nothing where sums do not decay, because the sums are its totals; else the
// reading and, from the last fold, a float a column. What is shown follows from them.
func (b *band) fields() []operators.Field {
	if b.reading == nil {
		return []operators.Field{foldedField{b}}
	}
	return []operators.Field{operators.Sums(b.reading, b.stream), foldedField{b}}
}

// foldedField is the last field of a band.
type foldedField struct{ *band }

func (f foldedField) StateLen() int {
	if f.reading == nil {
		return 0
	}
	return 8 * len(f.folded)
}

func (f foldedField) AppendState(dst []byte) []byte {
	if f.reading == nil {
		return dst
	}
	return appendFloats(dst, f.folded)
}

// Restore finds what is shown, by the sums and the reading, which were restored before.
func (f foldedField) Restore(state []byte) error {
	if f.reading != nil {
		for i := range f.folded {
			x := math.Float64frombits(binary.LittleEndian.Uint64(state[8*i:]))
			if !(math.Abs(x) <= math.MaxFloat64) {
				return errors.New("misses of a band not finite")
			}
			f.folded[i] = x
		}
	}
	f.show(f.stream.Step())
	return nil
}
