package schemas

import (
	"math"
	"strconv"
	"unsafe"
)

// The functions of this file read JSON for other forms of events than the body's own. They take the document, which
// must be UTF-8, and a position, and return the position after what they read. They allocate only for strings with
// escapes.

// SkipSpace skips white space.
func SkipSpace(b []byte, i int) int { return skipSpace(b, i) }

// SkipTo skips white space, the byte c, and white space again.
func SkipTo(b []byte, i int, c byte) (next int, code Code) { return skipTo(b, i, c) }

// NextMember skips the comma after a member or an element, or the closing byte; done reports the latter.
func NextMember(b []byte, i int, closing byte) (next int, done bool, code Code) {
	return nextMember(b, i, closing)
}

// ReadString reads the string that opens at b[i]. The text is a part of b or, if the string has an escape, at the end
// of arena, which is returned.
func ReadString(b []byte, i int, arena []byte) (text []byte, next int, grown []byte, code Code) {
	if i == len(b) || b[i] != '"' {
		return nil, i, arena, JSONSyntax
	}
	return readString(b, i, arena)
}

// ReadNumber reads the number that begins at b[i], rounded correctly.
func ReadNumber(b []byte, i int) (f float64, next int, code Code) { return parseNumber(b, i, 1) }

// HasLiteral reports whether b has the literal at i.
func HasLiteral(b []byte, i int, literal string) bool { return hasLiteral(b, i, literal) }

// SkipValue skips any value at b[i]. At most depth containers may be nested. arena is working space, which is returned.
func SkipValue(b []byte, i, depth int, arena []byte) (next int, grown []byte, code Code) {
	if i == len(b) {
		return i, arena, JSONSyntax
	}
	switch c := b[i]; {
	case c == '"':
		kept := len(arena)
		_, i, arena, code = readString(b, i, arena)
		return i, arena[:kept], code
	case c == '{' || c == '[':
		if depth == 0 {
			return i, arena, TooDeep
		}
		return skipContainer(b, i, depth, arena)
	case c == '-' || c-'0' < 10:
		i, code = skipNumber(b, i)
		return i, arena, code
	}
	for _, literal := range [...]string{"true", "false", "null"} {
		if hasLiteral(b, i, literal) {
			return i + len(literal), arena, OK
		}
	}
	return i, arena, JSONSyntax
}

// skipContainer skips the object or list that opens at b[i].
func skipContainer(b []byte, i, depth int, arena []byte) (next int, grown []byte, code Code) {
	object, closing, kept := b[i] == '{', b[i]+2, len(arena)
	if i = skipSpace(b, i+1); i < len(b) && b[i] == closing {
		return i + 1, arena, OK
	}
	for done := false; !done; {
		if object {
			if _, i, arena, code = ReadString(b, i, arena); code != OK {
				return i, arena, code
			}
			arena = arena[:kept]
			if i, code = skipTo(b, i, ':'); code != OK {
				return i, arena, code
			}
		}
		if i, arena, code = SkipValue(b, i, depth-1, arena); code != OK {
			return i, arena, code
		}
		if i, done, code = nextMember(b, i, closing); code != OK {
			return i, arena, code
		}
	}
	return i, arena, OK
}

// skipNumber skips a number of JSON's grammar.
func skipNumber(b []byte, i int) (next int, code Code) {
	if b[i] == '-' {
		i++
	}
	digits := func() bool {
		first := i
		for i < len(b) && b[i]-'0' < 10 {
			i++
		}
		return i > first
	}
	if first := i; !digits() || i-first > 1 && b[first] == '0' {
		return i, JSONSyntax
	}
	if i < len(b) && b[i] == '.' {
		if i++; !digits() {
			return i, JSONSyntax
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		if i++; i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		if !digits() {
			return i, JSONSyntax
		}
	}
	return i, OK
}

// ParseDecimal parses a text that is one finite decimal number, with an optional sign, fraction and exponent. strconv
// also accepts hexadecimal, underscores, Inf and NaN, which must not count as numbers here.
func ParseDecimal(text []byte) (float64, bool) {
	if len(text) == 0 {
		return 0, false
	}
	if f, next, code := parseNumber(text, 0, 1); code == OK && next == len(text) {
		return f, true
	}
	for _, c := range text {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	// The view avoids a copy; strconv keeps no reference unless it fails, and its error is dropped here.
	f, err := strconv.ParseFloat(unsafe.String(&text[0], len(text)), 64)
	return f, err == nil && !math.IsInf(f, 0)
}
