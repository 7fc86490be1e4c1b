package coco

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"oriel/operators"
)

// fields are what a state holds of a band: of sums that decay the reading; and two floats a column, three where anchors
// move. What is shown follows from them and from the sums.
func (b *band) fields() []operators.Field {
	if b.reading == nil {
		return []operators.Field{bandField{b}}
	}
	return []operators.Field{operators.Sums(b.reading, b.stream), bandField{b}}
}

// bandField is the last field of a band.
type bandField struct{ *band }

func (f bandField) StateLen() int {
	n := len(f.means) + len(f.folded)
	if f.lean > 0 {
		n += len(f.anchors)
	}
	return 8 * n
}

func (f bandField) AppendState(dst []byte) []byte {
	dst = appendFloats(appendFloats(dst, f.means), f.folded)
	if f.lean > 0 {
		dst = appendFloats(dst, f.anchors)
	}
	return dst
}

// Restore finds what is shown, by the sums and the reading, which were restored before.
func (f bandField) Restore(state []byte) error {
	for i := range f.StateLen() / 8 {
		if x := math.Float64frombits(binary.LittleEndian.Uint64(state[8*i:])); !(math.Abs(x) <= math.MaxFloat64) {
			return errors.New("numbers of a band not finite")
		}
	}
	readFloats(f.means, state)
	readFloats(f.folded, state[8*len(f.means):])
	if f.lean > 0 {
		readFloats(f.anchors, state[8*(len(f.means)+len(f.folded)):])
		low, high := f.rule.anchors()
		if slices.Min(f.anchors) < low || slices.Max(f.anchors) > high {
			return errors.New("anchors of a band beyond their bounds")
		}
	}
	f.read()
	f.find(f.stream.Step())
	f.show()
	return nil
}
