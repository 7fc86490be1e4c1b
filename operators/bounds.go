package operators

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Bounds limit the value of a Number or Count. Each command that finds the setting in its environment checks them,
// whether it uses the setting or not. Rules that involve other settings belong to the operator. The zero value limits
// nothing.
type Bounds struct {
	Least, Most float64 // allowed from Least to Most
	above       bool    // Least itself is refused
	below       bool    // Most itself is refused
	zero        bool    // 0 is allowed too
}

// From allows the numbers from least to most.
func From(least, most float64) Bounds { return Bounds{Least: least, Most: most} }

// Above allows the numbers above low and up to most.
func Above(low, most float64) Bounds { return Bounds{Least: low, Most: most, above: true} }

// Between allows the numbers above low and below high.
func Between(low, high float64) Bounds {
	return Bounds{Least: low, Most: high, above: true, below: true}
}

// OrZero allows 0 besides, which stands for a value that is not set.
func (b Bounds) OrZero() Bounds {
	b.zero = true
	return b
}

// Allow reports whether x is within the bounds.
func (b Bounds) Allow(x float64) bool {
	switch {
	case b == Bounds{}, b.zero && x == 0:
		return true
	case b.above && x == b.Least, b.below && x == b.Most:
		return false
	}
	return x >= b.Least && x <= b.Most
}

// String returns the bounds in words, for example "0, or 2 to 1024".
func (b Bounds) String() string {
	text := boundText(b.Least) + " to " + boundText(b.Most)
	switch {
	case b == Bounds{}:
		return ""
	case b.below:
		text = "above " + boundText(b.Least) + ", below " + boundText(b.Most)
	case b.above:
		text = "above " + boundText(b.Least) + ", at most " + boundText(b.Most)
	}
	if b.zero {
		text = "0, or " + text
	}
	return text
}

// boundText writes a bound as people do: 2^31, 1/1024, 1048576, 1e12, 1e-6.
func boundText(x float64) string {
	switch inverse := 1 / x; {
	case x >= 1<<30 && x < 1<<63 && x == math.Trunc(x) && bits.OnesCount64(uint64(x)) == 1:
		return "2^" + strconv.Itoa(bits.Len64(uint64(x))-1)
	case inverse >= 1<<10 && inverse < 1<<63 && inverse == math.Trunc(inverse) && bits.OnesCount64(uint64(inverse)) == 1:
		return "1/" + strconv.FormatFloat(inverse, 'f', -1, 64)
	}
	text := strconv.FormatFloat(x, 'g', -1, 64)
	digits, exponent, found := strings.Cut(text, "e")
	switch {
	case !found:
		return text
	case strings.Contains(digits, "."):
		return strconv.FormatFloat(x, 'f', -1, 64)
	}
	sign := strings.TrimPrefix(exponent[:1], "+")
	return digits + "e" + sign + strings.TrimLeft(exponent[1:], "0")
}
