package coco

import (
	"encoding/binary"
	"errors"
	"math"

	"oriel/operators"
)

// fields are what a state holds of a band: of sums that decay the reading; and two floats a column. What is shown
// follows from them and from the sums.
func (b *band) fields() []operators.Field {
	if b.reading == nil {
		return []operators.Field{bandField{b}}
	}
	return []operators.Field{operators.Sums(b.reading, b.stream), bandField{b}}
}

// bandField is the last field of a band.
type bandField struct{ *band }

func (f bandField) StateLen() int { return 8 * (len(f.means) + len(f.folded)) }

func (f bandField) AppendState(dst []byte) []byte {
	return appendFloats(appendFloats(dst, f.means), f.folded)
}

// Restore finds what is shown, by the sums and the reading, which were restored before.
func (f bandField) Restore(state []byte) error {
	for i := range len(f.means) + len(f.folded) {
		if x := math.Float64frombits(binary.LittleEndian.Uint64(state[8*i:])); !(math.Abs(x) <= math.MaxFloat64) {
			return errors.New("numbers of a band not finite")
		}
	}
	readFloats(f.means, state)
	readFloats(f.folded, state[8*len(f.means):])
	f.find(f.stream.Step())
	f.show()
	return nil
}
