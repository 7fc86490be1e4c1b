package text

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// finder walks a JSON document to the first place that breaks the rule of a code. It is for explanations: decoders find
// faults without keeping the place.
type finder struct {
	b    []byte
	code Code
	path []string // names and indices that lead to the current value
	at   int      // bytes before the fault, once one is found
}

// find returns the names that lead to the fault, and the bytes before it; −1 means that the document has no such fault.
func find(value []byte, code Code) (path []string, at int) {
	f := finder{b: value, code: code, at: -1}
	switch code {
	case InvalidUTF8:
		return nil, f.invalid()
	case JSONSyntax, TrailingData, LoneSurrogate, NumberOverflow:
	default:
		return nil, -1
	}
	i, ok := f.value(SkipSpace(value, 0), 0)
	if i = SkipSpace(value, i); ok && i < len(value) && code == TrailingData {
		return nil, i
	}
	return f.path, f.at
}

// invalid returns the position of the first byte that is not UTF-8, or −1.
func (f *finder) invalid() int {
	for i := 0; i < len(f.b); {
		r, width := utf8.DecodeRune(f.b[i:])
		if r == utf8.RuneError && width == 1 {
			return i
		}
		i += width
	}
	return -1
}

// fault ends the walk at a place that breaks a rule.
func (f *finder) fault(i int, code Code) (int, bool) {
	if code == f.code {
		f.at = i
	}
	return i, false
}

// mostNested bounds the walk; deeper documents have another fault.
const mostNested = 64

// value walks the value at b[i]; ok is false once there is a fault.
func (f *finder) value(i, depth int) (next int, ok bool) {
	if i == len(f.b) || depth == mostNested {
		return f.fault(i, JSONSyntax)
	}
	switch c := f.b[i]; {
	case c == '{' || c == '[':
		return f.container(i, depth)
	case c == '-' || c-'0' < 10:
		next, code := skipNumber(f.b, i)
		if code != OK {
			return f.fault(i, code)
		}
		if _, _, code = ReadNumber(f.b, i, 1); code == NumberOverflow && f.code == code {
			return f.fault(i, code)
		}
		return next, true
	}
	next, _, code := SkipValue(f.b, i, 1, nil)
	if code == LoneSurrogate {
		return f.fault(i, code)
	}
	if code != OK {
		return f.fault(next, code)
	}
	return next, true
}

// container walks the object or list that opens at b[i].
func (f *finder) container(i, depth int) (next int, ok bool) {
	object, closing := f.b[i] == '{', f.b[i]+2
	if i = SkipSpace(f.b, i+1); i < len(f.b) && f.b[i] == closing {
		return i + 1, true
	}
	for k, done := 0, false; !done; k++ {
		name := fmt.Sprintf("[%d]", k)
		if object {
			text, after, _, code := ReadString(f.b, i, nil)
			if code == LoneSurrogate {
				return f.fault(i, code)
			}
			if code != OK {
				return f.fault(after, code)
			}
			if i, code = SkipTo(f.b, after, ':'); code != OK {
				return f.fault(i, code)
			}
			name = string(text)
		}
		f.path = append(f.path, name)
		if i, ok = f.value(i, depth+1); !ok {
			return i, false
		}
		f.path = f.path[:len(f.path)-1]
		var code Code
		if i, done, code = NextMember(f.b, i, closing); code != OK {
			return f.fault(i, code)
		}
	}
	return i, true
}

// RuleAt returns the broken rule with the byte of a JSON record that breaks it, and no content of the record.
func (c Code) RuleAt(record []byte) string {
	switch _, at := find(record, c); {
	case at < 0:
		return c.Rule()
	case at == len(record):
		return fmt.Sprintf("%s; it ends too early, after byte %d", c.Rule(), at)
	default:
		return fmt.Sprintf("%s; not from byte %d on", c.Rule(), at+1)
	}
}

// PlaceIn returns the broken rule with the members that lead to the number or text that breaks it, and the byte.
func (c Code) PlaceIn(value []byte) string {
	names, at := find(value, c)
	if at < 0 || len(names) == 0 {
		return c.RuleAt(value)
	}
	text := Shown([]byte(names[0]))
	if p := Path("", []byte(names[0])); p[1:] != text {
		text = names[0]
	}
	for _, name := range names[1:] {
		if strings.HasPrefix(name, "[") {
			text += name
		} else {
			text = Path(text, []byte(name))
		}
	}
	return fmt.Sprintf("%s, at byte %d: %s", text, at+1, c.Rule())
}

// maxShown is the largest number of bytes of a name that a message contains.
const maxShown = 64

// Shown returns a name from an event in a form that is safe in a message: quoted, without control characters, and cut
// if it is long.
func Shown(name []byte) string {
	more := ""
	if len(name) > maxShown {
		cut := maxShown
		for cut > 0 && !utf8.RuneStart(name[cut]) {
			cut--
		}
		name, more = name[:cut], "…"
	}
	return strconv.Quote(string(name) + more)
}

// Path returns a name with its member, for example features.device; a name with unusual characters is quoted.
func Path(member string, name []byte) string {
	for _, c := range name {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c == '-') {
			return member + "." + Shown(name)
		}
	}
	if len(name) == 0 || len(name) > maxShown {
		return member + "." + Shown(name)
	}
	return member + "." + string(name)
}
