package digits

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// places returns the number of decimals with which x has four significant digits.
func places(x float64) int {
	if x == 0 {
		return 0
	}
	return max(0, 3-int(math.Floor(math.Log10(math.Abs(x)))))
}

// Four formats x with four significant digits, and whole numbers below a million in full. It formats NaN as a dash.
func Four[F ~float64](x F) string {
	y := float64(x)
	switch {
	case math.IsNaN(y):
		return "–"
	case math.IsInf(y, 1):
		return "∞"
	case y != 0 && (math.Abs(y) < 1e-3 || math.Abs(y) >= 1e6):
		return strconv.FormatFloat(y, 'g', 4, 64)
	}
	text := strconv.FormatFloat(y, 'f', places(y), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return Unsigned(text)
}

// Unsigned drops the sign of a zero: -0 is 0, and so is a negative number that is written as -0.00.
func Unsigned(text string) string {
	if strings.Trim(text, "-0.") == "" {
		return strings.TrimPrefix(text, "-")
	}
	return text
}

// Upper formats a value with four significant digits, rounded up, as losses and ratios must be shown.
func Upper[F ~float64](value F) string {
	y, text := float64(value), Four(value)
	if shown, err := strconv.ParseFloat(text, 64); err != nil || shown >= y {
		return text
	}
	unit := math.Pow(10, -float64(places(y)))
	if y < 1e-3 || y >= 1e6 {
		unit = math.Pow(10, math.Floor(math.Log10(y))-3)
	}
	return Four(y + unit/2) // Four rounds to nearest, so this rounds up to four digits
}

// Short formats a count: 1, 10, 100, 1 k, 1 M, 1 G; beyond 1 G, a power of ten.
func Short(x float64) string {
	for _, unit := range []struct {
		name string
		size float64
	}{{" G", 1e9}, {" M", 1e6}, {" k", 1e3}} {
		if x >= unit.size && x < 1e12 {
			return strconv.FormatFloat(x/unit.size, 'g', 4, 64) + unit.name
		}
	}
	return Unsigned(strconv.FormatFloat(x, 'g', 4, 64))
}

// Three formats x with three significant digits, as dashboards do: hundreds without decimals, smaller numbers with up
// to two decimals. It formats NaN as a dash.
func Three[F ~float64](x F) string {
	decimals := 2
	switch size := math.Abs(float64(x)); {
	case math.IsNaN(size):
		return "–"
	case size >= 99.95:
		decimals = 0
	case size >= 9.995:
		decimals = 1
	}
	return Unsigned(strconv.FormatFloat(float64(x), 'f', decimals, 64))
}

// PlusMinus formats the half-width of an interval, or a dash if there is none.
func PlusMinus(half Number) string {
	if !half.Known() {
		return "–"
	}
	return "± " + Four(half)
}

// RoundTwo rounds x to two significant digits.
func RoundTwo(x float64) float64 {
	short, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', 2, 64), 64)
	if err != nil {
		panic("BUG: digits: a number that does not read back")
	}
	return short
}

// Counted formats a number with its noun: 1 step, 2 steps.
func Counted[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
