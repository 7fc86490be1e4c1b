package framing

import (
	"bytes"
	"unicode/utf8"

	"oriel/schemas/text"
)

// maxDepth bounds the nesting of containers in a CloudEvent.
const maxDepth = 64

// cloudEvent extracts the event from a CloudEvent in structured mode.
type cloudEvent struct {
	binary bool   // the event is not JSON, so it must be in data_base64
	arena  []byte // unescaped texts
	event  []byte // event decoded from base64
}

// content returns the event in a record.
func (c *cloudEvent) content(record []byte) (event []byte, code text.Code) {
	switch {
	case !utf8.Valid(record):
		return nil, text.InvalidUTF8
	case bytes.HasPrefix(record, []byte("\uFEFF")):
		return nil, text.ByteOrderMark
	}
	i := text.SkipSpace(record, 0)
	if i == len(record) || record[i] != '{' {
		return nil, text.UnknownFraming
	}
	var found members
	if i, code = c.members(&found, record, text.SkipSpace(record, i+1)); code != text.OK {
		return nil, code
	}
	switch {
	case text.SkipSpace(record, i) != len(record):
		return nil, text.TrailingData
	case !found.version, (found.data == nil) == (found.base64 == nil), c.binary && found.data != nil:
		return nil, text.UnknownFraming
	case found.data != nil:
		return found.data, text.OK
	}
	ok := false
	if c.event, ok = appendBase64(c.event[:0], found.base64); !ok {
		return nil, text.UnknownFraming
	}
	return c.event, text.OK
}

// members are the relevant members of a CloudEvent.
type members struct {
	version      bool // specversion is "1.0"
	versioned    bool // specversion is present
	data, base64 []byte
}

// members reads the members from the first name on.
func (c *cloudEvent) members(found *members, b []byte, i int) (next int, code text.Code) {
	if i < len(b) && b[i] == '}' {
		return i + 1, text.OK
	}
	c.arena = c.arena[:0]
	for done := false; !done; {
		var name []byte
		kept := len(c.arena)
		if name, i, c.arena, code = text.ReadString(b, i, c.arena); code != text.OK {
			return i, code
		}
		if i, code = text.SkipTo(b, i, ':'); code != text.OK {
			return i, code
		}
		if i, code = c.member(found, name, b, i); code != text.OK {
			return i, code
		}
		if found.base64 == nil {
			c.arena = c.arena[:kept] // releases the unescaped text
		}
		if i, done, code = text.NextMember(b, i, '}'); code != text.OK {
			return i, code
		}
	}
	return i, text.OK
}

// member reads the value at b[i].
func (c *cloudEvent) member(found *members, name, b []byte, i int) (next int, code text.Code) {
	var s []byte
	switch string(name) {
	case "specversion":
		if found.versioned {
			return i, text.DuplicateName
		}
		if found.versioned = true; text.HasLiteral(b, i, `"1.0"`) {
			found.version = true
		}
	case "data":
		if found.data != nil {
			return i, text.DuplicateName
		}
		start := i
		i, c.arena, code = text.SkipValue(b, i, maxDepth, c.arena)
		found.data = b[start:i:i]
		return i, code
	case "data_base64":
		switch {
		case found.base64 != nil:
			return i, text.DuplicateName
		case i == len(b) || b[i] != '"':
			return i, text.UnknownFraming
		}
		s, i, c.arena, code = text.ReadString(b, i, c.arena)
		found.base64 = s[:len(s):len(s)]
		return i, code
	}
	i, c.arena, code = text.SkipValue(b, i, maxDepth, c.arena)
	return i, code
}

// appendBase64 decodes RFC 4648 §4 strictly: with padding, without line ends, and without nonzero unused bits.
func appendBase64(dst, text []byte) (decoded []byte, ok bool) {
	if len(text)%4 != 0 {
		return dst, false
	}
	for len(text) > 0 {
		group, pad := text[:4], 0
		if text = text[4:]; len(text) == 0 {
			pad = len(group) - len(bytes.TrimRight(group, "="))
		}
		bits, valid := uint32(0), pad <= 2
		for _, c := range group[:4-pad] {
			digit := base64Digit(c)
			bits, valid = bits<<6|uint32(digit), valid && digit >= 0
		}
		bits <<= 6 * pad
		if !valid || bits&(1<<(8*pad)-1) != 0 {
			return dst, false
		}
		dst = append(dst, byte(bits>>16), byte(bits>>8), byte(bits))[:len(dst)+3-pad]
	}
	return dst, true
}

func base64Digit(c byte) int {
	switch {
	case c >= 'A' && c <= 'Z':
		return int(c - 'A')
	case c >= 'a' && c <= 'z':
		return int(c-'a') + 26
	case c >= '0' && c <= '9':
		return int(c-'0') + 52
	case c == '+':
		return 62
	case c == '/':
		return 63
	}
	return -1
}
