package avro

import (
	"math/bits"
	"strconv"

	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// whole returns the value of a whole number: a Number, or a Time.
func (t *typ) whole(x int64) mapping.Value {
	switch {
	case t.unit == 0:
		return mapping.Value{Kind: mapping.Number, Number: float64(x)}
	case t.unit < 0:
		return mapping.Value{Kind: mapping.Time, Local: t.local, Seconds: x * (24 * 60 * 60)}
	}
	seconds, rest := x/t.unit, x%t.unit
	if rest < 0 {
		seconds, rest = seconds-1, rest+t.unit
	}
	return mapping.Value{Kind: mapping.Time, Local: t.local, Seconds: seconds, Nanos: int32(rest * (1e9 / t.unit))}
}

const (
	// maxDecimal bounds the bytes of a decimal, without those that only repeat its sign: 76 digits.
	maxDecimal = 32

	// maxDigits bounds the text of a decimal: a sign, 78 digits, and an exponent.
	maxDigits = 100

	ten19 = 10_000_000_000_000_000_000 // the greatest power of ten below 2^64
)

// decimal reads a big-endian two's complement number times 10^−scale, rounded correctly.
func (s *Source) decimal(b []byte, scale int) (f float64, ok bool) {
	if len(b) == 0 {
		return 0, false
	}
	sign := byte(0)
	if b[0]&0x80 != 0 {
		sign = 0xff
	}
	for len(b) > 1 && b[0] == sign && (b[1]^sign)&0x80 == 0 {
		b = b[1:]
	}
	if len(b) > maxDecimal {
		return 0, false
	}
	var words [maxDecimal / 8]uint64 // lowest word first; of a negative number, the complement plus 1
	carry := uint64(sign & 1)
	for k := range words {
		for place := range 8 {
			c := sign
			if at := len(b) - 1 - 8*k - place; at >= 0 {
				c = b[at]
			}
			words[k] |= uint64(c^sign) << (8 * place)
		}
		words[k], carry = bits.Add64(words[k], 0, carry)
	}
	s.digits = s.digits[:0]
	if sign != 0 {
		s.digits = append(s.digits, '-')
	}
	s.digits = appendWords(s.digits, words)
	s.digits = strconv.AppendInt(append(s.digits, 'e'), -int64(scale), 10)
	return text.ParseDecimal(s.digits)
}

// appendWords appends a number in decimal.
func appendWords(dst []byte, words [maxDecimal / 8]uint64) []byte {
	var parts [5]uint64 // digits in base 10^19, lowest first; five suffice, because 10^95 > 2^256
	n := 0
	for more := true; more; n++ {
		rest := uint64(0)
		more = false
		for k := len(words) - 1; k >= 0; k-- {
			words[k], rest = bits.Div64(rest, words[k], ten19)
			more = more || words[k] != 0
		}
		parts[n] = rest
	}
	dst = strconv.AppendUint(dst, parts[n-1], 10)
	for k := n - 2; k >= 0; k-- {
		for power := uint64(ten19 / 10); power > parts[k] && power > 1; power /= 10 {
			dst = append(dst, '0')
		}
		dst = strconv.AppendUint(dst, parts[k], 10)
	}
	return dst
}
