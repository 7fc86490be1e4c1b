package text

import "unicode/utf8"

// AppendString appends a JSON string with the fewest escapes, byte for byte as encoding/json does without its escapes
// for HTML. Bytes that are not UTF-8 become U+FFFD. U+2028 and U+2029, which end a line in JavaScript, are escaped.
func AppendString(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for width := 0; len(s) > 0; s = s[width:] {
		var r rune
		r, width = utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && width == 1:
			dst = append(dst, `\ufffd`...)
		case r == '\u2028' || r == '\u2029':
			dst = append(dst, '\\', 'u', '2', '0', '2', digits[r&15])
		case r >= ' ' && r != '"' && r != '\\':
			dst = append(dst, s[:width]...)
		default:
			dst = append(dst, '\\')
			if short := shortEscape(byte(r)); short != 0 {
				dst = append(dst, short)
			} else {
				dst = append(dst, 'u', '0', '0', digits[r>>4], digits[r&15])
			}
		}
	}
	return append(dst, '"')
}

// shortEscape returns the character after the backslash in a two-character escape, or 0 if there is no such escape.
func shortEscape(c byte) byte {
	switch c {
	case '"', '\\':
		return c
	case '\b':
		return 'b'
	case '\f':
		return 'f'
	case '\n':
		return 'n'
	case '\r':
		return 'r'
	case '\t':
		return 't'
	default:
		return 0
	}
}

// Quote returns a JSON string.
func Quote(s string) string { return string(AppendString(nil, s)) }

// IsName reports whether the name of a member needs no escaping or quoting in any format.
func IsName(name string) bool {
	for i, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || i > 0 && (c >= '0' && c <= '9' || c == '_')) {
			return false
		}
	}
	return name != ""
}
