package band

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"

	"oriel/operators"
	"oriel/schemas/event"
)

// Fields returns the fields of a band in a state: the reading, if sums decay; then three floats for each column. The
// public band follows from them and from the sums.
func (b *Band) Fields() []operators.Field {
	own := field{b, []operators.Field{
		operators.Floats(b.means, nil), operators.Floats(b.folded, nil), operators.Floats(b.anchors, nil),
	}}
	if b.reading == nil {
		return []operators.Field{own}
	}
	return []operators.Field{operators.Sums(b.reading, b.stream), own}
}

// field is the last field of a band in a state: means, folded and anchors.
type field struct {
	*Band
	parts []operators.Field
}

func (f field) StateLen() int { return 8 * len(f.means) * len(f.parts) }

func (f field) AppendState(dst []byte) []byte {
	for _, part := range f.parts {
		dst = part.AppendState(dst)
	}
	return dst
}

// Restore also computes the public band. The sums and the reading are restored before it.
func (f field) Restore(state []byte) error {
	for i := range f.StateLen() / 8 {
		if x := math.Float64frombits(binary.LittleEndian.Uint64(state[8*i:])); !(math.Abs(x) <= math.MaxFloat64) {
			return errors.New("numbers of a band not finite")
		}
	}
	for _, part := range f.parts {
		if err := part.Restore(state); err != nil {
			return err
		}
		state = state[part.StateLen():]
	}
	low, high := f.rule.anchors()
	if slices.Min(f.anchors) < low || slices.Max(f.anchors) > high {
		return errors.New("anchors of a band beyond their bounds")
	}
	f.read()
	f.find(f.stream.Step())
	f.show()
	return nil
}

// Score returns the functions that compare an event with a band as a reader of decisions does: neither the label
// nor the prediction is clamped.
func (r *Rule) Score() *operators.BandScore {
	low, high := r.ends(slices.Repeat([]float64{r.end(r.start)}, r.columns()))
	b := &operators.BandScore{Level: r.level, Low: low, High: high}
	b.Within = func(x []float64, e event.Event, low, high float64) (bool, float64) {
		residual := e.Label - r.predict(x, e)
		return low <= residual && residual <= high, high - low
	}
	if r.sets {
		b.Within = func(x []float64, e event.Event, _, high float64) (bool, float64) {
			f, labels := r.predict(x, e), 0.0
			for _, label := range []float64{-1, 1} {
				if wrong(float64(label*f)) <= high {
					labels++
				}
			}
			return wrong(float64(e.Label*f)) <= high, labels
		}
	}
	return b
}
