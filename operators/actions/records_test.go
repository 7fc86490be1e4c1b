package actions

import (
	"math"
	"testing"

	"oriel/operators"
	"oriel/operators/setting"
	"oriel/schemas/event"
)

// TestValuesAreCentredAndClamped checks that every value of a record is mapped to [−½, ½], and the ends of the range to
// ±½. A record without a value gives NaN.
func TestValuesAreCentredAndClamped(t *testing.T) {
	record := func(numbers ...float64) operators.Record {
		return operators.Record{Event: event.Event{Numbers: numbers}}
	}
	tiny, inf := math.SmallestNonzeroFloat64, math.Inf(1)
	for _, r := range []setting.Range{
		{Low: 0, High: 1},
		{Low: -3, High: 5},
		{Low: 1e12 - 1e-3, High: 1e12},
		{Low: -1e12, High: 1e12},
		{Low: 0, High: 1e-12},
	} {
		last := -0.5
		for _, x := range []float64{
			-inf, -math.MaxFloat64, -2e12, r.Low, r.Low + tiny, (r.Low + r.High) / 2, math.Nextafter(r.High, -inf), r.High, 2e12,
			math.MaxFloat64, inf,
		} {
			got := r.Centred(Number(record(x)))
			if !(got >= last && got <= 0.5) || x <= r.Low && got != -0.5 || x >= r.High && got != 0.5 {
				t.Errorf("%v: %g is worth %g", r, x, got)
			}
			last = got
		}
		null := record(1)
		null.Null = true
		for _, nothing := range []operators.Record{null, record(), record(0, 1), record(math.NaN())} {
			if got := r.Centred(Number(nothing)); !math.IsNaN(got) {
				t.Errorf("%v: %+v is worth %g", r, nothing, got)
			}
		}
		for _, sign := range []float64{1, -1} {
			if got := r.Centred(Number(record(r.Beyond(1, sign, 1)))); got != sign/2 {
				t.Errorf("%v: far beyond the end of %g is worth %g", r, sign, got)
			}
		}
	}
}
