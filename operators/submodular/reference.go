package submodular

import (
	"math"
	"slices"

	"oriel/operators"
	"oriel/schemas/event"
)

// reference implements operators.ReferenceModel for a machine that publishes every decision.
type reference struct {
	operators.OneRecord
	operator
	params params
	set    []int

	points []float64 // points of all copies, for shares
}

func (t *reference) Begin() {
	t.set = nil
	for i := range t.pick {
		best, most := i, math.Inf(-1)
		for a := 0; a < t.elements && len(t.types) > 0; a++ {
			value := t.totalValue(append(slices.Clone(t.set), a))
			if !slices.Contains(t.set, a) && value > most+1e-12 {
				best, most = a, value
			}
		}
		t.set = append(t.set, best)
	}
	if t.rule == byShares {
		t.vertex()
	}
}

// vertex sets the points of all copies to the first set.
func (t *reference) vertex() {
	t.points = make([]float64, t.copies*t.elements)
	for k := range t.copies {
		for _, a := range t.set {
			t.points[k*t.elements+a] = 1
		}
	}
}

// slopes writes gradients minus the centre. The gradient for a copy is taken at the mean of the points of the copies
// before it. slopes computes it by finite differences about that point. These differences are exact, because the
// expected value of a random set is linear in each coordinate, and the function quadratic is a quadratic polynomial.
func (t *reference) slopes(dst, v []float64) {
	n := t.elements
	at := make([]float64, n)
	for k := range t.copies {
		for a := range n {
			with, without := slices.Clone(at), slices.Clone(at)
			with[a], without[a] = at[a]+0.5, at[a]-0.5
			dst[k*n+a] = float64(t.scale()*(t.extension(with, v)-t.extension(without, v))) - t.centre()
		}
		for a := range n {
			at[a] += t.points[k*n+a] / float64(t.copies)
		}
	}
}

// totalValue returns the total value of a set to one event of each type.
func (t *reference) totalValue(set []int) (sum float64) {
	for j := range t.types {
		sum += t.value(t.params.table[j*t.elements:][:t.elements], set)
	}
	return sum
}

// value returns the value of a set to an event, by the function's definition.
func (t *reference) value(v []float64, set []int) float64 {
	most, missed, sum := 0.0, 1.0, 0.0
	for i, a := range set {
		if slices.Contains(set[:i], a) {
			continue // a repeated element adds nothing
		}
		most, missed, sum = max(most, v[a]), float64(missed*(1-v[a])), sum+v[a]
	}
	mean := sum / float64(t.pick)
	return []float64{most, 1 - missed, mean, min(1, sum), float64(mean * (2 - mean))}[t.function]
}

// scale returns the factor from gains to the unit in which they are learned.
func (t *reference) scale() float64 {
	switch t.function {
	case modular:
		return float64(t.pick)
	case quadratic:
		if t.rule == byShares {
			return float64(t.pick) / 2 // because a coordinate of the gradient is at most 2/k
		}
		return float64(t.pick*t.pick) / float64(2*t.pick-1)
	default:
		return 1
	}
}

func (t *reference) Observe(decisions []operators.Decision) {
	members := t.members()
	for _, d := range decisions {
		if t.rule == byShares {
			if t.published {
				copy(t.points, members.points.Of(d.Extras))
			}
			continue
		}
		for i, x := range d.Point {
			t.set[i] = int(x)
		}
	}
}

// Contribution writes the type or, for each position, the gains given the set so far, minus the centre.
func (t *reference) Contribution(dst []float64, r operators.Record) bool {
	if r.Null {
		return false
	}
	if t.rule == byHistogram {
		dst[0] = r.Event.Numbers[0]
		return true
	}
	v := make([]float64, t.elements)
	if len(t.types) > 0 {
		copy(v, t.params.table[int(r.Event.Numbers[0])*t.elements:])
	}
	for k, x := range r.Event.Vector.Values {
		at := k
		if r.Event.Vector.Indices != nil {
			at = int(r.Event.Vector.Indices[k])
		}
		v[at] = max(0, min(1, x))
	}
	if t.rule == byShares {
		t.slopes(dst, v)
		return true
	}
	for i := range t.pick {
		before := append([]int{}, t.set[:i]...)
		for a := range t.elements {
			dst[i*t.elements+a] = float64(t.scale()*(t.value(v, append(before, a))-t.value(v, before))) - t.centre()
			if slices.Contains(before, a) {
				dst[i*t.elements+a] = -t.centre()
			}
		}
	}
	return true
}

// Tangent does nothing, because a canary's direction selects one of a list of pairs.
func (t *reference) Tangent([]float64) {}

// Canary returns two events of different types, or two events whose gains are at a large distance. The first of these
// values only the elements of the set before its last element: it gains at the first position, and never again. The
// second values all other elements: at each position it gains from every element outside the set. If gains have a
// length bound, each event gains from one half of the elements outside the set.
func (t *reference) Canary(u []float64, factor float64) (with, without operators.Record) {
	defer func() {
		if u[0] < 0 {
			with, without = without, with
		}
	}()
	if len(t.types) > 0 {
		a, b := t.distantTypes()
		return atPlace(a), atPlace(b)
	}
	a, b := make([]float64, t.elements), slices.Repeat([]float64{float64(operators.CanaryFactor * factor)}, t.elements)
	in := t.set[:t.pick-1]
	if t.rule == byShares {
		in = nil
		for i, x := range t.points[:(t.copies-1)*t.elements] {
			if at := i % t.elements; x > 0 && !slices.Contains(in, at) {
				in = append(in, at)
			}
		}
	}
	switch {
	case t.length > 0:
		k := 0
		for i := range a {
			if slices.Contains(in, i) {
				b[i] = 0
			} else if k++; k%2 == 1 {
				a[i], b[i] = b[i], 0
			}
		}
	case t.function != modular: // with modular, one event gains from all elements and the other from none
		for _, i := range in {
			a[i], b[i] = b[i], 0
		}
	}
	record := func(v []float64) operators.Record {
		return operators.Record{Event: event.Event{Vector: event.Vector{Values: v}}}
	}
	return record(a), record(b)
}

// distantTypes returns two types: the one with the longest contribution, and the type whose contribution is at the
// largest distance from it.
func (t *reference) distantTypes() (a, b int) {
	if t.rule == byHistogram {
		return 0, 1
	}
	size := t.pick * t.elements
	if t.rule == byShares {
		size = t.copies * t.elements
	}
	farthest := func(from []float64) (best int) {
		most, to := -1.0, make([]float64, size)
		for j := range t.types {
			t.Contribution(to, atPlace(j))
			sum := 0.0
			for i, x := range to {
				sum += float64((x - from[i]) * (x - from[i]))
			}
			if sum > most {
				best, most = j, sum
			}
		}
		return best
	}
	from := make([]float64, size)
	a = farthest(from)
	t.Contribution(from, atPlace(a))
	return a, farthest(from)
}

func atPlace(j int) operators.Record {
	return operators.Record{Event: event.Event{Numbers: []float64{float64(j)}}}
}
