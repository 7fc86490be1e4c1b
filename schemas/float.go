package schemas

import (
	"math"
	"strconv"
)

// AppendFloat appends the shortest decimal that reads back as f, the closest to f among those, as encoding/json
// prints a float64: with an exponent only below 1e-6 and from 1e21 on, without a leading zero in it. −0 is printed as
// 0. f must be finite.
func AppendFloat(dst []byte, f float64) []byte {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		panic("BUG: schemas: a number of a decision is not finite")
	}
	if n := int64(f); float64(n) == f && -1e15 < f && f < 1e15 {
		return strconv.AppendInt(dst, n, 10)
	}
	if f < 0 {
		dst = append(dst, '-')
		f = -f
	}
	digits, e := shortestDecimal(f)
	var buffer [20]byte
	text := formatDigits(&buffer, digits)
	point := len(text) + e // digits in front of the point
	switch {
	case f < 1e-6 || f >= 1e21:
		dst = append(dst, text[0])
		if len(text) > 1 {
			dst = append(append(dst, '.'), text[1:]...)
		}
		dst = append(dst, 'e')
		if f >= 1 {
			dst = append(dst, '+')
		}
		return strconv.AppendInt(dst, int64(point-1), 10)
	case point <= 0:
		dst = append(dst, "0.00000"[:2-point]...)
		return append(dst, text...)
	case point < len(text):
		dst = append(append(dst, text[:point]...), '.')
		return append(dst, text[point:]...)
	default:
		dst = append(dst, text...)
		return append(dst, "00000000000000000000"[:point-len(text)]...)
	}
}

// formatDigits prints n > 0 at the end of the buffer, two digits at a time.
func formatDigits(buffer *[20]byte, n uint64) []byte {
	const pairs = "00010203040506070809" +
		"10111213141516171819" +
		"20212223242526272829" +
		"30313233343536373839" +
		"40414243444546474849" +
		"50515253545556575859" +
		"60616263646566676869" +
		"70717273747576777879" +
		"80818283848586878889" +
		"90919293949596979899"
	i := len(buffer)
	for n >= 1e8 { // 32-bit divisions are cheaper
		low := uint32(n % 1e8)
		n /= 1e8
		for range 4 {
			pair := low % 100 * 2
			low /= 100
			i -= 2
			buffer[i], buffer[i+1] = pairs[pair], pairs[pair+1]
		}
	}
	rest := uint32(n)
	for rest >= 10 {
		pair := rest % 100 * 2
		rest /= 100
		i -= 2
		buffer[i], buffer[i+1] = pairs[pair], pairs[pair+1]
	}
	if rest > 0 {
		i--
		buffer[i] = '0' + byte(rest)
	}
	return buffer[i:]
}
