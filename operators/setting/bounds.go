package setting

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"oriel/schemas/text"
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

// ParseNumber is text.ParseNumber, for packages that know no events.
func ParseNumber(s string) (float64, error) { return text.ParseNumber(s) }

// ParseInt is text.ParseInt, for packages that know no events.
func ParseInt(s string) (int, error) { return text.ParseInt(s) }

// Decimal returns a number as decisions and canonical texts have it.
func Decimal(x float64) string { return string(text.AppendFloat(nil, x)) }

// Range is a public range of numbers, Low below High.
type Range struct{ Low, High float64 }

// maxEnd is the largest absolute value of the ends of a public range.
const maxEnd = 1e12

// ParseRange reads the two ends of a public range. Their absolute values must be at most 1e12, and the second must
// exceed the first by at least 1e-12.
func ParseRange(low, high string) (r Range, ok bool) {
	from, err := text.ParseNumber(low)
	to, other := text.ParseNumber(high)
	ok = err == nil && other == nil && math.Abs(from) <= maxEnd && math.Abs(to) <= maxEnd && to-from >= 1/maxEnd
	return Range{from, to}, ok
}

// IsRange reports whether a text has the form low:high of a public range. It is the Form of such settings.
func IsRange(text string) bool {
	low, high, _ := strings.Cut(text, ":")
	_, ok := ParseRange(low, high)
	return ok
}

// Range returns the value of a setting of kind Text whose Form is IsRange. It reports a problem if the setting is not
// set.
func (v *Values) Range(name string) Range {
	low, high, _ := strings.Cut(v.Text(name), ":")
	r, ok := ParseRange(low, high)
	v.Want(name, ok, "not set; it is low:high, ends up to 1e12 in size, the first below the second")
	return r
}

// Middle returns the midpoint of the range.
func (r Range) Middle() float64 { return (r.Low + r.High) / 2 }

// Half returns half the width of the range.
func (r Range) Half() float64 { return (r.High - r.Low) / 2 }

// Centred clamps a number to the range and maps the range linearly to [−½, ½]. NaN stays NaN.
func (r Range) Centred(x float64) float64 {
	return (min(max(x, r.Low), r.High)-r.Low)/(r.High-r.Low) - 0.5
}

// Beyond returns the number at factor·sign·u half-widths from the middle of the range. Centred would map it to
// factor·sign·u/2, if it did not clamp.
func (r Range) Beyond(u, sign, factor float64) float64 {
	return r.Middle() + float64(float64(sign*u*r.Half())*factor)
}
