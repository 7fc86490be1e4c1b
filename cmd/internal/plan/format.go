package plan

import (
	"math"
	"strconv"

	"oriel/cmd/internal/digits"
)

// none stands for a figure that does not exist: NaN, null in JSON, a dash in tables. A loss that is not finite is +Inf,
// and also null in JSON.
var none = Number(math.NaN())

// Number is a figure that JSON writes as null unless it is finite.
type Number float64

// MarshalJSON writes the shortest decimal that reads back as the same float64, or null.
func (x Number) MarshalJSON() ([]byte, error) {
	if !x.finite() {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(x), 'g', -1, 64), nil
}

func (x Number) finite() bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }

// Known reports whether the figure exists.
func (x Number) Known() bool { return !math.IsNaN(float64(x)) }

// spans are the units of Duration.
var spans = []struct {
	name    string
	seconds float64
}{
	{"y", 365 * 86400}, {"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1},
}

// Duration writes seconds in the two largest units that fit, for example 2 d 3 h; a year has 365 days. It drops the
// remainder below the smaller unit.
func Duration(seconds float64) string {
	switch {
	case seconds >= 1e4*spans[0].seconds:
		return strconv.FormatFloat(seconds/spans[0].seconds, 'g', 2, 64) + " y"
	case seconds < 1e-3:
		return strconv.FormatFloat(seconds*1e6, 'g', 3, 64) + " µs"
	case seconds < 1:
		return strconv.FormatFloat(seconds*1e3, 'g', 3, 64) + " ms"
	case seconds < 10:
		return strconv.FormatFloat(seconds, 'g', 2, 64) + " s"
	}
	for i, span := range spans {
		if seconds < span.seconds {
			continue
		}
		count := math.Floor(seconds / span.seconds)
		text := strconv.FormatFloat(count, 'f', 0, 64) + " " + span.name
		if i+1 < len(spans) {
			next := spans[i+1]
			if rest := math.Floor((seconds - count*span.seconds) / next.seconds); rest > 0 {
				text += " " + strconv.FormatFloat(rest, 'f', 0, 64) + " " + next.name
			}
		}
		return text
	}
	panic("BUG: plan: a duration below every unit")
}

// bytesOf formats a size in B, KiB, MiB or GiB.
func bytesOf(n uint64) string {
	for _, unit := range []struct {
		name string
		size uint64
	}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}} {
		if n >= 10*unit.size {
			return strconv.FormatFloat(float64(n)/float64(unit.size), 'f', 1, 64) + " " + unit.name
		}
	}
	return strconv.FormatUint(n, 10) + " B"
}

// count formats a number of steps: below ten million with all digits, otherwise with four significant digits.
func count(n uint64) string {
	if n < 10_000_000 {
		return strconv.FormatUint(n, 10)
	}
	return digits.Short(float64(n))
}
