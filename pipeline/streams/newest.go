package streams

import (
	"oriel/operators"
	"oriel/schemas/decision"
)

// newest holds the values of a walk's newest decision for the first topic, in memory that is reused. The operator's own
// memory is valid only until the next record.
type newest struct {
	index, step uint64
	time        int64
	point       []float64
	extras      []decision.ExtraValue
}

// keep copies the values of a decision.
func (n *newest) keep(d *operators.Decision, time int64) {
	n.index, n.step, n.time = d.Index, d.Step, time
	n.point = append(n.point[:0], d.Point...)
	for len(n.extras) < len(d.Extras) {
		n.extras = append(n.extras, decision.ExtraValue{})
	}
	n.extras = n.extras[:len(d.Extras)]
	for i, x := range d.Extras {
		own := &n.extras[i]
		own.Number, own.Text, own.Numbers = x.Number, x.Text, append(own.Numbers[:0], x.Numbers...)
	}
}

// Newest returns the newest decision for the first topic. A walk with KeepsNewest must have made one.
func (w *Walk) Newest() decision.Decision {
	n := &w.newest
	return w.Stream.encoder.Decision(n.index, n.step, n.time, n.point, n.extras)
}
