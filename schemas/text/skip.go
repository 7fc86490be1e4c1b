package text

// SkipValue skips any value at b[i]. At most depth containers may be nested. arena is working space, which is returned.
func SkipValue(b []byte, i, depth int, arena []byte) (next int, grown []byte, code Code) {
	if i == len(b) {
		return i, arena, JSONSyntax
	}
	switch c := b[i]; {
	case c == '"':
		kept := len(arena)
		_, i, arena, code = ReadString(b, i, arena)
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
		if HasLiteral(b, i, literal) {
			return i + len(literal), arena, OK
		}
	}
	return i, arena, JSONSyntax
}

// skipContainer skips the object or list that opens at b[i].
func skipContainer(b []byte, i, depth int, arena []byte) (next int, grown []byte, code Code) {
	object, closing, kept := b[i] == '{', b[i]+2, len(arena)
	if i = SkipSpace(b, i+1); i < len(b) && b[i] == closing {
		return i + 1, arena, OK
	}
	for done := false; !done; {
		if object {
			if _, i, arena, code = ReadString(b, i, arena); code != OK {
				return i, arena, code
			}
			arena = arena[:kept]
			if i, code = SkipTo(b, i, ':'); code != OK {
				return i, arena, code
			}
		}
		if i, arena, code = SkipValue(b, i, depth-1, arena); code != OK {
			return i, arena, code
		}
		if i, done, code = NextMember(b, i, closing); code != OK {
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
	if f, next, code := ReadNumber(text, 0, 1); code == OK && next == len(text) {
		return f, true
	}
	for _, c := range text {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E' {
			return 0, false
		}
	}
	f, code := parseSlow(text)
	return f, code == OK
}
