package submodular

// unit is how finely values are known: they are whole multiples of 2⁻²⁰, and so the same on every CPU.
const unit = 1 << 20

// function tells how the values that an event has for single elements make that of a set.
type function uint8

// The functions, each monotone and submodular, with values in [0, 1].
const (
	facility      function = iota // max_{a∈S} v_a: the best of the set counts
	probabilistic                 // 1 − Π_{a∈S}(1 − v_a): each gets another chance
	modular                       // Σ_{a∈S} v_a/k
	saturating                    // min(1, Σ_{a∈S} v_a): values add up until the event has enough
)

var functions = []string{"facility", "probabilistic", "modular", "saturating"}

// with is the value of a set and one more element, where the set has the value before and the element v: both and the
// result in [0, 1].
func (f function) with(before, v float64, k int) float64 {
	switch f {
	case facility:
		return max(before, v)
	case probabilistic:
		return before + float64(v*(1-before))
	case saturating:
		return min(1, before+v)
	default:
		return before + v/float64(k)
	}
}

// gain is what an element of value v adds, in [0, 1]: of modular in units of 1/k, since more it cannot be.
func (f function) gain(before, v float64) float64 {
	if f == modular {
		return v
	}
	return f.with(before, v, 1) - before
}
