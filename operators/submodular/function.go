package submodular

import "math"

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
