package submodular

import "math"

// unit is the resolution of values: they are whole multiples of 2⁻²⁰, and so are equal on every CPU.
const unit = 1 << 20

// function identifies how the value of a set follows from an event's values of single elements.
type function uint8

// The functions, each monotone and submodular, with values in [0, 1].
const (
	facility      function = iota // max_{a∈S} v_a: the best of the set counts
	probabilistic                 // 1 − Π_{a∈S}(1 − v_a): each gets another chance
	modular                       // Σ_{a∈S} v_a/k
	saturating                    // min(1, Σ_{a∈S} v_a): values add up until the event has enough
	quadratic                     // z(2 − z), z = Σ_{a∈S} v_a/k: each further element adds less, but not nothing
)

var functions = []string{"facility", "probabilistic", "modular", "saturating", "quadratic"}

// with returns the value of a set with one more element, if the set has the value before and the element the value v.
// Both arguments and the result are in [0, 1].
func (f function) with(before, v float64, k int) float64 {
	switch f {
	case facility:
		return max(before, v)
	case probabilistic:
		return before + float64(v*(1-before))
	case saturating:
		return min(1, before+v)
	case quadratic: // 1 − (1 − z)²
		left := max(0, math.Sqrt(1-before)-v/float64(k))
		return 1 - float64(left*left)
	default:
		return before + v/float64(k)
	}
}

// maxGain returns the most that one element can add, which is the unit of gain.
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

// gain returns the gain from an element of value v, in [0, 1]. Its unit is the most that one element can add: 1/k for
// modular, and (2k − 1)/k² for quadratic.
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
