package submodular

import (
	"cmp"
	"math"
	"slices"

	"oriel/mechanisms"
	"oriel/operators/convex"
	"oriel/operators/convex/catalogue"
	"oriel/operators/elementary"
	"oriel/schemas/event"
)

const maxCopies = 1 << 10

// copiesOf returns K of Algorithm 4 of the source paper. K is configured, or (T/ln^{2.5}T)^{1/4} from the paper's
// proof for T events. With the printed rate it is √(√T/ln^{2.5}T), from the paper's pseudocode. Params of leaders also
// store K of the proof, without use.
func (c operator) copiesOf(m mechanisms.Config) int {
	if c.copies > 0 {
		return c.copies
	}
	events := eventsOf(m)
	ln := elementary.Log(events)
	by := float64(float64(ln*ln) * math.Sqrt(ln))
	if c.printed && c.rule == byShares {
		return int(min(maxCopies, math.Ceil(math.Sqrt(math.Sqrt(events)/by))))
	}
	return int(min(maxCopies, math.Ceil(math.Sqrt(math.Sqrt(events/by)))))
}

// eventsOf returns T, the number of events of a window or a memory, at least 2.
func eventsOf(m mechanisms.Config) float64 {
	return max(2, float64(float64(m.Scope.Span())*float64(m.Batch)))
}

// continuousRule holds the copies of Algorithm 4. Each has a point of the set {0 ≤ x ≤ 1, Σx = k}, and the mean of the
// points is published. Copy i receives the gradient at (1/K)·Σ of the points of copies before i.
type continuousRule struct {
	eventReader
	regulariser
	projection convex.Projection
	points     []float64 // points of the K copies, N numbers each
	prefix     []float64 // scratch: sum of the points of earlier copies, divided by K
	scaled     []float64
	order      []int     // scratch: elements in the order of falling value
	suffix     []float64 // scratch, by place: product, or expected best value, of the elements from there on
}

func newShares(w eventReader, p params, first []int) (*continuousRule, error) {
	n := w.elements
	w.copies = p.copies
	projection, err := newProjection(catalogue.Spec{Name: "subsets", Dimension: n, Radius: 1, Pick: w.pick})
	s := &continuousRule{
		eventReader: w, regulariser: p.regulariser, projection: projection, points: make([]float64, p.copies*n),
		prefix: make([]float64, n), scaled: make([]float64, n), order: make([]int, n), suffix: make([]float64, n+1),
	}
	for i := range s.copies {
		for _, element := range first {
			s.points[i*n+element] = 1
		}
	}
	return s, err
}

func newProjection(spec catalogue.Spec) (convex.Projection, error) {
	set, err := catalogue.Parse(spec)
	if err != nil {
		return nil, err
	}
	return convex.NewProjection(set)
}

// decide computes each copy's point by private follow-the-approximate-leader: Π(ĝ/Λ_n), where ĝ are the released sums
// of the copy's gradients.
func (s *continuousRule) decide(stream *mechanisms.Stream) {
	by := s.at(s.weight(stream))
	for i := range s.copies {
		for a, g := range stream.Sum(0)[i*s.elements:][:s.elements] {
			s.scaled[a] = g / by
		}
		s.projection.Project(s.points[i*s.elements:][:s.elements], s.scaled)
	}
}

// write writes the mean of the points.
func (s *continuousRule) write(dst []float64) {
	clear(dst)
	for i := range s.copies {
		for a, x := range s.points[i*s.elements:][:s.elements] {
			dst[a] += x
		}
	}
	for a := range dst {
		dst[a] = min(1, dst[a]/float64(s.copies))
	}
}

// contribution writes gradients minus the centre.
func (s *continuousRule) contribution(dst []float64, e event.Event) bool {
	if !s.read(e) {
		return false
	}
	s.gradients(dst, s.values, s.function)
	return true
}

// gradients writes the gradients of all copies, minus the centre, for an event with the given values.
func (s *continuousRule) gradients(dst, values []float64, f function) {
	clear(s.prefix)
	for a := range s.order {
		s.order[a] = a
	}
	if f == facility {
		slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(values[b], values[a]) })
	}
	centre := s.centre()
	for i := range s.copies {
		gradient := dst[i*s.elements:][:s.elements]
		s.gradient(gradient, values, f)
		for a := range gradient {
			gradient[a] -= centre
			s.prefix[a] += s.points[i*s.elements+a] / float64(s.copies)
		}
	}
}

// gradient writes the gradient of the multilinear extension of f, which is the expected value of a random set that
// contains element a with probability at_a. A coordinate is the expected gain from its element. For quadratic it is the
// gradient of the function itself. The unit is the largest possible coordinate: 1/k for modular, 2/k for quadratic.
func (s *continuousRule) gradient(dst, values []float64, f function) {
	n := s.elements
	switch f {
	case facility: // in falling order: P(no better element is in) · (value − expected best of the worse)
		s.suffix[n] = 0
		for j := n - 1; j >= 0; j-- {
			a := s.order[j]
			s.suffix[j] = float64(values[a]*s.prefix[a]) + float64((1-s.prefix[a])*s.suffix[j+1])
		}
		none := 1.0
		for j, a := range s.order {
			dst[a] = float64(none * (values[a] - s.suffix[j+1]))
			none = float64(none * (1 - s.prefix[a]))
		}
	case probabilistic: // coordinate a is v_a·Π_{b≠a}(1 − v_b·x_b)
		s.suffix[n] = 1
		for a := n - 1; a >= 0; a-- {
			s.suffix[a] = float64(s.suffix[a+1] * (1 - float64(values[a]*s.prefix[a])))
		}
		none := 1.0
		for a := range dst {
			dst[a] = float64(float64(values[a]*none) * s.suffix[a+1])
			none = float64(none * (1 - float64(values[a]*s.prefix[a])))
		}
	case quadratic: // coordinate a is v_a·(1 − z)
		left := 1.0
		for a, v := range values {
			left -= float64(v*s.prefix[a]) / float64(s.pick)
		}
		for a, v := range values {
			dst[a] = float64(v * left)
		}
	default:
		copy(dst, values)
	}
}

// extension returns the multilinear extension of f at x, the expected value of a set that contains each element with
// its probability. For quadratic it returns the function itself, at shares of a budget.
func (c operator) extension(x, values []float64) (value float64) {
	switch c.function {
	case facility: // integral, over levels, of the probability that the best value exceeds the level
		levels := slices.Sorted(slices.Values(values))
		before := 0.0
		for _, level := range levels {
			none := 1.0
			for a, v := range values {
				if v >= level {
					none = float64(none * (1 - x[a]))
				}
			}
			value += float64((level - before) * (1 - none))
			before = level
		}
		return value
	case probabilistic:
		none := 1.0
		for a, v := range values {
			none = float64(none * (1 - float64(v*x[a])))
		}
		return 1 - none
	default: // the function is modular
		for a, v := range values {
			value += float64(v*x[a]) / float64(c.pick)
		}
		if c.function == quadratic {
			value = float64(value * (2 - value))
		}
		return value
	}
}
