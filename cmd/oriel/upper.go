package main

import (
	"math"
	"strconv"
)

// upper writes a privacy loss with four significant digits, never below its value.
func upper(x float64) string {
	text := strconv.FormatFloat(x, 'g', 4, 64)
	if shown, err := strconv.ParseFloat(text, 64); err != nil || shown >= x {
		return text
	}
	unit := math.Pow(10, math.Floor(math.Log10(x))-3)
	return strconv.FormatFloat(x+unit/2, 'g', 4, 64) // rounds to the next four digits above
}
