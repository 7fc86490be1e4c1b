package coco

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"oriel/operators"
)

// fields returns the fields of a band in a state: the reading, if sums decay; then three floats for each column. The
// public band follows from them and from the sums.
func (b *band) fields() []operators.Field {
	if b.reading == nil {
		return []operators.Field{bandField{b}}
	}
	return []operators.Field{operators.Sums(b.reading, b.stream), bandField{b}}
}

// bandField is the last field of a band in a state: means, folded and anchors.
type bandField struct{ *band }

func (f bandField) StateLen() int {
	return 8 * (len(f.means) + len(f.folded) + len(f.anchors))
}

func (f bandField) AppendState(dst []byte) []byte {
	return appendFloats(appendFloats(appendFloats(dst, f.means), f.folded), f.anchors)
}

// Restore also computes the public band. The sums and the reading are restored before it.
func (f bandField) Restore(state []byte) error {
	for i := range f.StateLen() / 8 {
		if x := math.Float64frombits(binary.LittleEndian.Uint64(state[8*i:])); !(math.Abs(x) <= math.MaxFloat64) {
			return errors.New("numbers of a band not finite")
		}
	}
	readFloats(f.means, state)
	readFloats(f.folded, state[8*len(f.means):])
	readFloats(f.anchors, state[8*(len(f.means)+len(f.folded)):])
	low, high := f.rule.anchors()
	if slices.Min(f.anchors) < low || slices.Max(f.anchors) > high {
		return errors.New("anchors of a band beyond their bounds")
	}
	f.read()
	f.find(f.stream.Step())
	f.show()
	return nil
}
