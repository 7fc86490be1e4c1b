package text

import "unicode/utf8"

// The scanning functions take the document and a position, and return the position after the bytes that they read, so
// that the position stays in a register. The document must be UTF-8, which Decode checks first. They allocate only for
// strings with escapes.

// MaxDepth bounds the nesting of arrays and objects in a document.
const MaxDepth = 8

// SkipSpace skips white space.
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// SkipTo skips white space, then the byte c, then white space.
func SkipTo(b []byte, i int, c byte) (int, Code) {
	i = SkipSpace(b, i)
	if i == len(b) || b[i] != c {
		return i, JSONSyntax
	}
	return SkipSpace(b, i+1), OK
}

// NextMember skips the comma after a member or element, or the closing byte; done reports the latter.
func NextMember(b []byte, i int, closing byte) (next int, done bool, code Code) {
	i = SkipSpace(b, i)
	if i == len(b) {
		return i, false, JSONSyntax
	}
	switch b[i] {
	case ',':
		return SkipSpace(b, i+1), false, OK
	case closing:
		return i + 1, true, OK
	default:
		return i, false, JSONSyntax
	}
}

// scanString finds the closing quote of the string whose first character is b[i]. unescape checks the bytes after a
// backslash.
func scanString(b []byte, i int) (end int, escaped bool, code Code) {
	for ; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			return i, escaped, OK
		case c == '\\':
			escaped = true
			i++
		case c < ' ':
			return i, false, JSONSyntax
		}
	}
	return i, false, JSONSyntax
}

// ReadString reads the string that opens at b[i]. The result is a part of b or, if the string has an escape, at the end
// of arena, which is returned.
func ReadString(b []byte, i int, arena []byte) (text []byte, next int, grown []byte, code Code) {
	if i == len(b) || b[i] != '"' {
		return nil, i, arena, JSONSyntax
	}
	end, escaped, code := scanString(b, i+1)
	if code != OK {
		return nil, end, arena, code
	}
	if !escaped {
		return b[i+1 : end], end + 1, arena, OK
	}
	start := len(arena)
	arena, code = unescape(arena, b[i+1:end])
	return arena[start:len(arena):len(arena)], end + 1, arena, code
}

// unescape appends the characters of the JSON string content s.
func unescape(dst, s []byte) ([]byte, Code) {
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			continue
		}
		i++
		if i == len(s) {
			return dst, JSONSyntax
		}
		switch s[i] {
		case '"', '\\', '/':
			dst = append(dst, s[i])
		case 'b':
			dst = append(dst, '\b')
		case 'f':
			dst = append(dst, '\f')
		case 'n':
			dst = append(dst, '\n')
		case 'r':
			dst = append(dst, '\r')
		case 't':
			dst = append(dst, '\t')
		case 'u':
			r, ok := hex4(s[i+1:])
			if !ok {
				return dst, JSONSyntax
			}
			i += 4
			if r >= 0xd800 && r < 0xe000 {
				if r >= 0xdc00 || i+2 >= len(s) || s[i+1] != '\\' || s[i+2] != 'u' {
					return dst, LoneSurrogate
				}
				low, ok := hex4(s[i+3:])
				if !ok {
					return dst, JSONSyntax
				}
				if low < 0xdc00 || low >= 0xe000 {
					return dst, LoneSurrogate
				}
				r = (r-0xd800)<<10 + (low - 0xdc00) + 0x10000
				i += 6
			}
			dst = utf8.AppendRune(dst, r)
		default:
			return dst, JSONSyntax
		}
	}
	return dst, OK
}

func hex4(s []byte) (rune, bool) {
	if len(s) < 4 {
		return 0, false
	}
	var r rune
	for _, c := range s[:4] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// HasLiteral reports whether b has the literal at i.
func HasLiteral(b []byte, i int, literal string) bool {
	return len(b)-i >= len(literal) && string(b[i:i+len(literal)]) == literal
}

// Unexpected returns the fault of a value at b[i] that does not have the expected type. depth is its depth if it is a
// container. code is the fault if b[i] starts any valid value.
func Unexpected(b []byte, i, depth int, code Code) Code {
	if i >= len(b) {
		return JSONSyntax
	}
	switch c := b[i]; {
	case c == '[' || c == '{':
		if nestsTooDeep(b, i, depth) {
			return TooDeep
		}
		return code
	case HasLiteral(b, i, "null"):
		return NullValue
	case c == '"' || c == '-' || c >= '0' && c <= '9' || HasLiteral(b, i, "true") || HasLiteral(b, i, "false"):
		return code
	default:
		return JSONSyntax
	}
}

// nestsTooDeep walks the container that opens at b[i], the depth-th from outside, without a stack, because it counts
// brackets and does not match them.
func nestsTooDeep(b []byte, i, depth int) bool {
	for level := depth - 1; i < len(b); i++ {
		switch b[i] {
		case '[', '{':
			level++
			if level > MaxDepth {
				return true
			}
		case ']', '}':
			level--
			if level < depth {
				return false
			}
		case '"':
			end, _, code := scanString(b, i+1)
			if code != OK {
				return false
			}
			i = end
		}
	}
	return false
}
