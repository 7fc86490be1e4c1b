package text

import (
	"bytes"
	"math"
	"math/bits"
	"strconv"
	"unsafe"
)

// ReadNumber reads a number of JSON's grammar and rounds it correctly (nearest, ties to even). It stops at the first
// byte that cannot belong to the number; its caller must check whether this byte may follow. depth is the depth of a
// container found instead of a number.
//
// Let w be the digits as an integer and e the decimal exponent. There are three ways to compute w·10^e, each with a
// single rounding. For w < 2^53 and |e| ≤ 22 both w and 10^|e| are float64s, so one multiplication or division rounds
// once (Clinger 1990, "How to read floating point numbers accurately"). For at most 19 digits and |e| ≤ 27 it uses
// exactDecimal. Other numbers, rare in data, use strconv.
func ReadNumber(b []byte, i, depth int) (f float64, next int, code Code) {
	start := i
	if i < len(b) && b[i] == '-' {
		i++
	}
	first := i
	var w uint64
	for ; i < len(b) && b[i]-'0' < 10; i++ {
		w = w*10 + uint64(b[i]-'0')
	}
	digits := i - first
	if digits == 0 || digits > 1 && b[first] == '0' {
		if first == start && digits == 0 {
			return 0, i, Unexpected(b, i, depth, WrongType)
		}
		return 0, i, JSONSyntax
	}
	e := 0
	if i < len(b) && b[i] == '.' {
		i++
		point := i
		if w == 0 {
			for i < len(b) && b[i] == '0' {
				i++
			}
			digits = point - i // leading zeros do not count as digits
		}
		for ; i < len(b) && b[i]-'0' < 10; i++ {
			w = w*10 + uint64(b[i]-'0')
		}
		if i == point {
			return 0, i, JSONSyntax
		}
		e = point - i
		digits -= e
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		mantissa := i
		x, after, ok := parseExponent(b, i+1)
		if !ok {
			return 0, after, JSONSyntax
		}
		i = after
		if x > 9999 || x < -9999 {
			f, code = parseExtreme(b[start:mantissa], x)
			return f, i, code
		}
		e += x
	}
	if digits > 19 {
		f, code = parseSlow(b[start:i])
		return f, i, code
	}
	switch {
	case w == 0:
	case w < 1<<53 && e >= -22 && e <= 22:
		f = float64(w)
		if e < 0 {
			f /= powersOfTen[-e]
		} else {
			f = float64(f * powersOfTen[e])
		}
	case e >= -27 && e <= 27:
		f = exactDecimal(w, e)
	case e+digits > 309: // the value is at least 10^309; strconv would allocate an error
		return 0, i, NumberOverflow
	default:
		f, code = parseSlow(b[start:i])
		return f, i, code
	}
	if b[start] == '-' {
		f = -f
	}
	return f, i, OK
}

// parseExponent reads the exponent after the e. It stops counting beyond ten digits, because no record has enough
// digits to bring a number with such an exponent back into range.
func parseExponent(b []byte, i int) (x, next int, ok bool) {
	negative := false
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		negative = b[i] == '-'
		i++
	}
	first := i
	for ; i < len(b) && b[i]-'0' < 10; i++ {
		if x < 1e9 {
			x = x*10 + int(b[i]-'0')
		}
	}
	if negative {
		x = -x
	}
	return x, i, i > first
}

// parseExtreme reads mantissa·10^x if |x| has five digits or more. strconv stops counting there, so that 0.00…1e100000
// with 99999 zeros would become 0. So parseExtreme first moves the point after the first nonzero digit.
func parseExtreme(mantissa []byte, x int) (float64, Code) {
	point := bytes.IndexByte(mantissa, '.')
	if point < 0 {
		point = len(mantissa)
	}
	lead := bytes.IndexAny(mantissa, "123456789")
	if lead < 0 {
		return parseSlow(mantissa)
	}
	if x += point - lead; lead < point {
		x--
	}
	moved := make([]byte, 0, len(mantissa)+8)
	if mantissa[0] == '-' {
		moved = append(moved, '-')
	}
	moved = append(moved, mantissa[lead], '.')
	moved = append(moved, bytes.ReplaceAll(mantissa[lead+1:], []byte{'.'}, nil)...)
	moved = append(moved, 'e')
	return parseSlow(strconv.AppendInt(moved, int64(min(max(x, -9999), 9999)), 10))
}

func parseSlow(number []byte) (float64, Code) {
	// The view avoids a copy; strconv keeps no reference unless it fails, and its error, which quotes the number, is
	// dropped here.
	f, err := strconv.ParseFloat(unsafe.String(&number[0], len(number)), 64)
	if err != nil {
		return 0, NumberOverflow
	}
	return f, OK
}

// exactDecimal returns w·10^e for w > 0 and |e| ≤ 27, correctly rounded. Because 5^27 < 2^64, w·5^e has 128 bits, and
// w/5^-e is one division of 128 by 64 bits with a remainder that decides the rounding. The result is a normal float64,
// so no bits are lost below.
func exactDecimal(w uint64, e int) float64 {
	var m uint64 // the significand with its top bit set; the value is (m + rest)·2^exp with 0 ≤ rest < 1
	var rest bool
	exp := e
	if e >= 0 {
		hi, lo := bits.Mul64(w, powersOfFive[e])
		exp += 64
		if hi == 0 {
			hi, lo = lo, 0
			exp -= 64
		}
		shift := bits.LeadingZeros64(hi)
		m, rest = hi<<shift|lo>>(64-shift), lo<<shift != 0
		exp -= shift
	} else {
		five := powersOfFive[-e]
		shift, fiveShift := bits.LeadingZeros64(w), bits.LeadingZeros64(five)
		exp += fiveShift - shift - 64
		hi, lo := w<<shift, uint64(0)
		if five <<= fiveShift; hi >= five {
			hi, lo = hi>>1, hi<<63
			exp++
		}
		var r uint64
		m, r = bits.Div64(hi, lo, five)
		rest = r != 0
	}
	tail := m & 0x7ff
	m >>= 11
	if tail > 0x400 || tail == 0x400 && (rest || m&1 == 1) {
		m++
	}
	return float64(float64(m) * math.Float64frombits(uint64(exp+11+1023)<<52))
}

var powersOfTen = [...]float64{
	1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
}

var powersOfFive = func() (p [28]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = 5 * p[i-1]
	}
	return p
}()
