package digits

import (
	"math"
	"strconv"
)

// None stands for a figure that does not exist: NaN, null in JSON, a dash in tables. A loss that is not finite is +Inf,
// and also null in JSON.
var None = Number(math.NaN())

// Number is a figure that JSON writes as null unless it is finite.
type Number float64

// MarshalJSON writes the shortest decimal that reads back as the same float64, or null.
func (x Number) MarshalJSON() ([]byte, error) {
	if !x.Finite() {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(x), 'g', -1, 64), nil
}

// Finite reports whether the figure is a number.
func (x Number) Finite() bool { return !math.IsNaN(float64(x)) && !math.IsInf(float64(x), 0) }

// Known reports whether the figure exists.
func (x Number) Known() bool { return !math.IsNaN(float64(x)) }

// lengths are the units of Duration.
var lengths = []struct {
	name    string
	seconds float64
}{
	{"y", 365 * 86400}, {"d", 86400}, {"h", 3600}, {"min", 60}, {"s", 1},
}

// Duration writes seconds in the two largest units that fit, for example 2 d 3 h; a year has 365 days. It drops the
// remainder below the smaller unit.
func Duration(seconds float64) string {
	switch {
	case seconds >= 1e4*lengths[0].seconds:
		return strconv.FormatFloat(seconds/lengths[0].seconds, 'g', 2, 64) + " y"
	case seconds < 1e-3:
		return strconv.FormatFloat(seconds*1e6, 'g', 3, 64) + " µs"
	case seconds < 1:
		return strconv.FormatFloat(seconds*1e3, 'g', 3, 64) + " ms"
	case seconds < 10:
		return strconv.FormatFloat(seconds, 'g', 2, 64) + " s"
	}
	for i, span := range lengths {
		if seconds < span.seconds {
			continue
		}
		count := math.Floor(seconds / span.seconds)
		text := strconv.FormatFloat(count, 'f', 0, 64) + " " + span.name
		if i+1 < len(lengths) {
			next := lengths[i+1]
			if rest := math.Floor((seconds - count*span.seconds) / next.seconds); rest > 0 {
				text += " " + strconv.FormatFloat(rest, 'f', 0, 64) + " " + next.name
			}
		}
		return text
	}
	panic("BUG: digits: a duration below every unit")
}

// Bytes formats a size in B, KiB, MiB or GiB.
func Bytes(n uint64) string {
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

// Count formats a number of steps: below ten million with all digits, otherwise with four significant digits.
func Count(n uint64) string {
	if n < 10_000_000 {
		return strconv.FormatUint(n, 10)
	}
	return Short(float64(n))
}
