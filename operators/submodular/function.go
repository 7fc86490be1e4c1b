package submodular

import (
	"math"
	"slices"

	"oriel/operators"
	"oriel/schemas/event"
)

// unit is the resolution of values. Values are integer multiples of 2⁻²⁰, and therefore equal on every CPU.
const unit = 1 << 20

// function identifies how the value of a set follows from an event's values of single elements.
type function uint8

// These are the functions. Each is monotone and submodular, with values in [0, 1].
const (
	facility function = iota // max_{a∈S} v_a: only the best element counts
	// 1 − Π_{a∈S}(1 − v_a): the probability that one of several independent tries succeeds.
	probabilistic
	modular    // Σ_{a∈S} v_a/k: each element adds its value
	saturating // min(1, Σ_{a∈S} v_a): values add up until the event has enough
	quadratic  // z(2 − z) with z = Σ_{a∈S} v_a/k: each further element adds less, but not 0
)

var functions = []string{"facility", "probabilistic", "modular", "saturating", "quadratic"}

// with returns the value of a set after one more element is added. before is the value of the set without this element,
// and v is the value of the element. All of them are in [0, 1].
func (f function) with(before, v float64, k int) float64 {
	switch f {
	case facility:
		return max(before, v)
	case probabilistic:
		return before + float64(v*(1-before))
	case saturating:
		return min(1, before+v)
	case quadratic: // the value is 1 − (1 − z)²
		left := max(0, math.Sqrt(1-before)-v/float64(k))
		return 1 - float64(left*left)
	default:
		return before + v/float64(k)
	}
}

// maxGain returns the largest gain from one element, which is the unit of gain.
func (f function) maxGain(k int) float64 {
	switch f {
	case modular:
		return 1 / float64(k)
	case quadratic:
		return float64(2*k-1) / float64(k*k)
	default:
		return 1
	}
}

// gain returns the gain from an element of value v, in [0, 1]. Its unit is maxGain: 1/k for modular, (2k − 1)/k² for
// quadratic, 1 for the others.
func (f function) gain(before, v float64, k int) float64 {
	switch f {
	case modular:
		return v
	case quadratic:
		return float64((f.with(before, v, k)-before)*float64(k*k)) / float64(2*k-1)
	default:
		return f.with(before, v, k) - before
	}
}

// greedy builds sets element by element. The next element is the one with the largest gain, the first among equals
// (Nemhauser, Wolsey and Fisher, "An analysis of approximations for maximizing submodular set functions I",
// Mathematical Programming 14, 1978). For a monotone submodular function its set has at least 1 − (1 − 1/k)^k of the
// value of the best set.
type greedy struct {
	function function
	elements int
	pick     int
	set      []int
	member   []bool
	before   []float64 // value of the set so far to each type
}

func newGreedy(f function, types, elements, pick int) *greedy {
	return &greedy{
		function: f, elements: elements, pick: pick, set: make([]int, 0, pick), member: make([]bool, elements),
		before: make([]float64, types),
	}
}

// weighted finds the greedy set for given numbers of events of each type; table holds their values, type by type. It
// returns the set, valid until the next call, and its total value over all events.
func (g *greedy) weighted(table, counts []float64) (set []int, value float64) {
	g.set = g.set[:0]
	clear(g.member)
	clear(g.before)
	for range g.pick {
		best, most := -1, 0.0
		for element := range g.elements {
			if g.member[element] {
				continue
			}
			gain := 0.0
			for j, n := range counts {
				after := g.function.with(g.before[j], table[j*g.elements+element], g.pick)
				gain += float64(n * (after - g.before[j]))
			}
			if best < 0 || gain > most {
				best, most = element, gain
			}
		}
		g.set, g.member[best] = append(g.set, best), true
		for j := range counts {
			g.before[j] = g.function.with(g.before[j], table[j*g.elements+best], g.pick)
		}
	}
	for j, n := range counts {
		value += float64(n * g.before[j])
	}
	return g.set, value
}

// bestOther returns the element with the largest sum that is not in the set, the first among equals.
func bestOther(sums []float64, set []int) int {
	best := -1
	for a, g := range sums {
		if (best < 0 || g > sums[best]) && !slices.Contains(set, a) {
			best = a
		}
	}
	return best
}

// Score is 1 − f(S), the value that an event misses compared with the largest possible value of a set. Before the first
// published set it uses the initial set.
func (c operator) Score() *operators.Score {
	table := c.table()
	s := &operators.Score{Loss: func(x []float64, e event.Event) float64 { return c.missed(table, x, e) }}
	first := c.first(table)
	if c.rule == byShares {
		s.Start = make([]float64, c.elements)
		for _, element := range first {
			s.Start[element] = 1
		}
		return s
	}
	for _, element := range first {
		s.Start = append(s.Start, float64(element))
	}
	return s
}

// missed returns 1 − f(S) for an event, or NaN if the event is unusable.
func (c operator) missed(table, set []float64, e event.Event) float64 {
	v := e.Vector
	if len(c.types) > 0 {
		j := c.typeOf(e)
		if j < 0 {
			return math.NaN()
		}
		v = event.Vector{Values: table[j*c.elements:][:c.elements]}
	}
	if c.rule == byShares {
		values := make([]float64, c.elements)
		for a := range values {
			if values[a] = max(0, min(1, valueAt(v, a))); math.IsNaN(values[a]) {
				return math.NaN()
			}
		}
		return 1 - c.extension(set, values)
	}
	value := 0.0
	for i, element := range set {
		if slices.Contains(set[:i], element) {
			continue // a repeated element adds nothing
		}
		value = c.function.with(value, max(0, min(1, valueAt(v, int(element)))), c.pick)
	}
	return 1 - value
}

// valueAt returns a coordinate of a vector, or NaN if the vector has none there.
func valueAt(v event.Vector, at int) float64 {
	if v.Indices == nil {
		if at >= len(v.Values) {
			return math.NaN()
		}
		return v.Values[at]
	}
	for k, index := range v.Indices {
		if int(index) == at {
			return v.Values[k]
		}
	}
	return 0
}
