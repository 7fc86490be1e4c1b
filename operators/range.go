package operators

import (
	"math"
	"strings"

	"oriel/schemas/text"
)

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

// Beyond returns a number that Centred would map to sign·u/2 at factor 1, if it did not clamp. For |u| = 1 the number
// lies far outside the range.
func (r Range) Beyond(u, sign, factor float64) float64 {
	return r.Middle() + float64(float64(float64(sign*u*r.Half())*factor)*CanaryFactor)
}
