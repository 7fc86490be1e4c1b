package aggregate

import (
	"oriel/operators"
	"oriel/schemas"
)

// twin is the operators.Twin: it looks for an event's place along each dimension from the first to the last, and counts cells one by one.
type twin struct{ spec specification }

func (t *twin) Begin() {}

func (t *twin) Decided([]operators.Decision) {}

// Leaf is the cell, x̃ and the weight, neither clamped.
func (t *twin) Leaf(dst []float64, r operators.Record) bool {
	if r.Null {
		return false
	}
	places := make([]int, len(t.spec.dimensions))
	outside := false
	for i, d := range t.spec.dimensions {
		x := r.Event.Numbers[i]
		places[i] = -1
		for j := range d.size() {
			if d.choices != nil && x == float64(j) || d.choices == nil && x >= d.edge(j) && x < d.edge(j+1) {
				places[i] = j
			}
		}
		outside = outside || places[i] < 0
	}
	cell, stride := 0, 1
	for i := len(places) - 1; i >= 0; i-- {
		cell, stride = cell+places[i]*stride, stride*t.spec.dimensions[i].size()
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

// Direct has nothing to do: a canary's direction chooses among pairs.
func (t *twin) Direct([]float64) {}

// pairs are the values of x̃ of two events of one cell or of two, of which some are as far apart as any.
var pairs = []struct {
	cells int
	x, y  float64
}{{2, 1, 1}, {2, 1, -1}, {1, 1, -1}, {1, 1, 0}, {2, 0, 0}, {2, 1, 0}}

// Canary returns two events as far apart as leaves can be: in two cells, or in one with other values. Values and weights are far beyond their ranges,
// so that they arrive there if they are clamped.
func (t *twin) Canary(u []float64, factor float64) (with, without operators.Record) {
	best, most := 0, -1.0
	for i, p := range pairs {
		if p.cells <= t.spec.cells() && (t.spec.value != "" || p.x == p.y) {
			if d := t.apart(p.cells, p.x, p.y); d > most {
				best, most = i, d
			}
		}
	}
	p, sign := pairs[best], 1.0
	if u[1] < 0 {
		sign = -1
	}
	first := 0
	if u[0] < 0 && p.cells > 1 {
		first = 1
	}
	return t.record(first, float64(sign*p.x), factor), t.record(p.cells-1-first, float64(sign*p.y), factor)
}

// apart is the square of the distance of two leaves of the largest weight.
func (t *twin) apart(cells int, x, y float64) float64 {
	w := t.spec.weights
	column := func(x float64) [3]float64 {
		return [3]float64{w.Count, float64(w.Mean * x), float64(w.Square * (float64(x*x) - 0.5))}
	}
	a, b := column(x), column(y)
	total := 0.0
	for i := range a {
		if cells > 1 {
			total += float64(a[i]*a[i]) + float64(b[i]*b[i])
		} else {
			total += float64((a[i] - b[i]) * (a[i] - b[i]))
		}
	}
	return total
}

// record is an event of a cell of the first two whose value is x̃ once it is clamped.
func (t *twin) record(cell int, x, factor float64) operators.Record {
	beyond := float64(operators.Beyond * factor)
	e := schemas.Event{Weight: 1}
	product := 1
	for _, d := range t.spec.dimensions {
		product *= d.size()
	}
	stride := product
	for _, d := range t.spec.dimensions {
		stride /= d.size()
		place := cell / stride % d.size()
		switch {
		case cell >= product && d.choices != nil: // the second cell is that of events elsewhere
			e.Numbers = append(e.Numbers, -1)
		case cell >= product:
			e.Numbers = append(e.Numbers, d.to)
		case d.choices != nil:
			e.Numbers = append(e.Numbers, float64(place))
		default:
			e.Numbers = append(e.Numbers, (d.edge(place)+d.edge(place+1))/2)
		}
	}
	if t.spec.value != "" {
		e.Numbers = append(e.Numbers, (t.spec.low+t.spec.high)/2+float64(float64(x*beyond)*((t.spec.high-t.spec.low)/2)))
	}
	if t.spec.weightMax > 0 {
		e.Weight = float64(t.spec.weightMax * beyond)
	}
	return operators.Record{Event: e}
}
