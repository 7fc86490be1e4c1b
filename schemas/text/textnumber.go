package text

import (
	"errors"
	"math"
	"strconv"
	"strings"
)

// Errors of ParseNumber and ParseCount. Their texts must follow the refused text.
var (
	errNoNumber = errors.New("not a number in decimal digits")
	errLarge    = errors.New("too large: a number is below 1.8e308")
	errSmall    = errors.New("too small: it would be read as 0")
	errNoCount  = errors.New("not a whole number in decimal digits")
	errManyMore = errors.New("too large: a whole number is below 2^64")
)

// ParseNumber reads a number that a person has written: in a setting, an entry of a setting, a flag or an answer. It
// takes decimal digits with an optional sign, point and exponent, and ignores spaces around them. The result is the
// nearest float64, which is always finite, and is never −0.
//
// strconv.ParseFloat alone would also take NaN, infinities, and hexadecimal digits with underscores between them. It
// would turn 1e-400 into 0. Code behind a setting relies on finite numbers, for example to print them in decisions.
func ParseNumber(text string) (float64, error) {
	text = strings.TrimSpace(text)
	other := strings.TrimLeft(text, "+-0123456789.")
	if text == "" || other != "" && (other[0]|0x20 != 'e' || strings.Trim(other[1:], "+-0123456789") != "") {
		return 0, errNoNumber
	}
	x, err := strconv.ParseFloat(text, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errLarge
	case err != nil:
		return 0, errNoNumber
	case x == 0 && strings.ContainsAny(text[:len(text)-len(other)], "123456789"):
		return 0, errSmall
	}
	return x + 0, nil // adding 0 turns −0 into 0
}

// ParseCount is like ParseNumber for a whole number without a sign, a point or an exponent. It takes a leading +.
func ParseCount(text string) (uint64, error) {
	digits := strings.TrimPrefix(strings.TrimSpace(text), "+")
	n, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errManyMore
	case err != nil:
		return 0, errNoCount
	}
	return n, nil
}

// ParseInt is ParseCount for numbers that fit an int.
func ParseInt(text string) (int, error) {
	n, err := ParseCount(text)
	if err == nil && n > math.MaxInt {
		return 0, errManyMore
	}
	return int(n), err
}
