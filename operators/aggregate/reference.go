package aggregate

import (
	"slices"

	"oriel/operators"
	"oriel/schemas/event"
)

// reference is the operators.ReferenceModel. It searches each dimension for an event's place from first to last, and
// counts cells one by one.
type reference struct {
	operators.Stateless
	spec specification
}

// Contribution writes the cell, x̃ and the weight, neither of them clamped.
func (t *reference) Contribution(dst []float64, r operators.Record) bool {
	if r.Null {
		return false
	}
	places := make([]int, len(t.spec.dimensions))
	outside := false
	for i, d := range t.spec.dimensions {
		x := r.Event.Numbers[i]
		places[i] = -1
		for j := range d.Size() {
			if d.Choices != nil && x == float64(j) || d.Choices == nil && x >= d.Edge(j) && x < d.Edge(j+1) {
				places[i] = j
			}
		}
		outside = outside || places[i] < 0
	}
	cell, stride := 0, 1
	for i := len(places) - 1; i >= 0; i-- {
		cell, stride = cell+places[i]*stride, stride*t.spec.dimensions[i].Size()
	}
	if outside {
		if cell = stride; !t.spec.other {
			return false
		}
	}
	dst[0], dst[1], dst[2] = float64(cell), 0, 1
	if t.spec.value != "" {
		last := r.Event.Numbers[len(r.Event.Numbers)-1]
		dst[1] = (last - (t.spec.low+t.spec.high)/2) / ((t.spec.high - t.spec.low) / 2)
	}
	if t.spec.weightMax > 0 {
		dst[2] = r.Event.Weight
	}
	return true
}

// pair is two events, by the number of cells that they are in, one or two, and their values x̃.
type pair struct {
	cells int
	x, y  float64
}

// pairs lists candidates for the largest distance, for specifications without bins and without large weights of
// squares.
var pairs = []pair{{2, 1, 1}, {2, 1, -1}, {1, 1, -1}, {1, 1, 0}, {2, 0, 0}, {2, 1, 0}}

func newReference(s specification) *reference { return &reference{spec: s} }

// distantPairs returns the pairs at the largest distance, and their mirror images if these have the same distance. In
// one cell with bins, such a pair is a value of the first bin and a value at an end of another bin.
func (s *specification) distantPairs() (distant []pair) {
	first, second := make([]float64, 3+s.weights.Bins), make([]float64, 3+s.weights.Bins)
	candidates := slices.Clone(pairs)
	for k := range 40 { // with squares, the distance may be largest at any other value
		candidates = append(candidates, pair{1, -1, float64(k-20) / 20})
	}
	// At most 64 of the bins are tried, because the distance hardly changes from one bin to the next.
	for bin := 0; bin < s.weights.Bins; bin += (s.weights.Bins + 63) / 64 {
		for _, within := range []float64{0.001, 0.999} {
			candidates = append(candidates, pair{1, -1, 2*(float64(bin)+within)/float64(s.weights.Bins) - 1})
		}
	}
	most := -1.0
	for _, p := range candidates {
		for _, p := range []pair{p, {p.cells, -p.x, -p.y}} {
			if p.cells > s.cells() || s.value == "" && p.x != p.y {
				continue
			}
			s.column(first, p.x)
			s.column(second, p.y)
			d := squaredDistance(p, first, second)
			if d > most*(1+1e-9) {
				most, distant = d, nil
			}
			if d >= most*(1-1e-9) {
				distant = append(distant, p)
			}
		}
	}
	return distant
}

// Canary returns two events whose contributions are at the largest distance: in two cells, or in one with different
// values. Values at an end of their range, and weights, are sent far beyond it, so that only clamping brings them back.
func (t *reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	p := t.spec.distant[0]
	if u[1] < 0 {
		p = t.spec.distant[len(t.spec.distant)-1]
	}
	first := 0
	if u[0] < 0 && p.cells > 1 {
		first = 1
	}
	return t.record(first, p.x, factor), t.record(p.cells-1-first, p.y, factor)
}

// CanaryOf returns two events of one cell, counted from the first cell, or from the last one if u points there.
func (t *reference) CanaryOf(number int, u []float64, factor float64) (with, without operators.Record) {
	if u[0] < 0 {
		number = t.spec.cells() - 1 - number
	}
	return t.record(number, 0, factor), t.record(number, 0, factor)
}

// squaredDistance returns the squared distance of the contributions of a pair at the largest weight, computed from
// their columns.
func squaredDistance(p pair, a, b []float64) float64 {
	total := 0.0
	for i := range a {
		if p.cells > 1 {
			total += float64(a[i]*a[i]) + float64(b[i]*b[i])
		} else {
			total += float64((a[i] - b[i]) * (a[i] - b[i]))
		}
	}
	return total
}

// column writes the contribution of a value within its cell, in real numbers.
func (s *specification) column(dst []float64, x float64) {
	w := s.weights
	clear(dst)
	dst[0], dst[1], dst[2] = w.Count, float64(w.Mean*x), float64(w.Square*(float64(x*x)-0.5))
	r := w.Quantile
	bin := max(0, min(int(float64((x+1)/2*float64(w.Bins))), w.Bins-1))
	for k := 0; bin+k < w.Bins; k++ {
		if dst[3+bin+k] = r; s.weights.Histogram {
			break
		}
		r = float64(r * (float64(2*k+1) / float64(2*k+2)))
	}
}

// record returns an event of a cell. Clamping turns its value into x̃; a value within the range is
// not changed.
func (t *reference) record(cell int, x, factor float64) operators.Record {
	beyond := float64(operators.CanaryFactor * factor)
	e := event.Event{Weight: 1}
	product := t.spec.product()
	stride := product
	for _, d := range t.spec.dimensions {
		stride /= d.Size()
		place := cell / stride % d.Size()
		switch {
		case cell >= product && d.Choices != nil: // the second cell is the cell of all other events
			e.Numbers = append(e.Numbers, -1)
		case cell >= product:
			e.Numbers = append(e.Numbers, d.To)
		case d.Choices != nil:
			e.Numbers = append(e.Numbers, float64(place))
		default:
			e.Numbers = append(e.Numbers, (d.Edge(place)+d.Edge(place+1))/2)
		}
	}
	if t.spec.value != "" {
		if x == 1 || x == -1 {
			x = float64(x * beyond)
		}
		e.Numbers = append(e.Numbers, (t.spec.low+t.spec.high)/2+float64(x*((t.spec.high-t.spec.low)/2)))
	}
	if t.spec.weightMax > 0 {
		e.Weight = float64(t.spec.weightMax * beyond)
	}
	return operators.Record{Event: e}
}
