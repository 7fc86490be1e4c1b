package event

import (
	"oriel/schemas/text"
)

// number reads a number within the member's bounds at b[i].
func (m *field) number(b []byte, i int) (f float64, next int, code text.Code) {
	f, next, code = text.ReadNumber(b, i, 2)
	if code == text.OK && !(m.least <= f && f <= m.most) {
		code = text.NumberRange
	}
	return f, next, code
}

// count reads a whole number within the member's bounds at b[i]. It counts the digits, because parsing as float64 could
// round a number above MaxCount down to MaxCount.
func (m *field) count(b []byte, i int) (f float64, next int, code text.Code) {
	start := i
	if i < len(b) && b[i] == '-' {
		i++
	}
	first := i
	n := uint64(0)
	for ; i < len(b) && b[i]-'0' < 10; i++ {
		n = min(n*10+uint64(b[i]-'0'), MaxCount+1)
	}
	switch {
	case i == start:
		return 0, i, text.Unexpected(b, i, 2, text.WrongType)
	case i == first, i-first > 1 && b[first] == '0':
		return 0, i, text.JSONSyntax
	case n > MaxCount || i < len(b) && (b[i] == '.' || b[i]|0x20 == 'e'):
		return 0, i, text.CountRange
	}
	if f = float64(n); first > start && n > 0 {
		f = -f
	}
	if f < m.least || f > m.most {
		return f, i, text.CountRange
	}
	return f, i, text.OK
}

// choice reads a text of the member's list at b[i], and returns its position there. If the list is open, it returns −1
// for any other text.
func (d *JSONDecoder) choice(m *field, b []byte, i int) (place float64, next int, code text.Code) {
	s, next, code := d.string(b, i)
	if code != text.OK {
		return 0, next, code
	}
	place, code = m.chosen(s)
	return place, next, code
}

// string reads a text at b[i].
func (d *JSONDecoder) string(b []byte, i int) (s []byte, next int, code text.Code) {
	if i == len(b) || b[i] != '"' {
		return nil, i, text.Unexpected(b, i, 2, text.WrongType)
	}
	s, next, d.arena, code = text.ReadString(b, i, d.arena)
	return s, next, code
}

// clean returns the clean form of a name, in memory of the decoder.
func (d *JSONDecoder) clean(s []byte) (name []byte, code text.Code) {
	d.named, code = text.CleanName(d.named, s)
	return d.named, code
}

// chosen finds a text in the member's list.
func (m *field) chosen(s []byte) (place float64, code text.Code) {
	k, known := m.choices[string(s)]
	switch {
	case !known && m.open:
		return -1, text.OK
	case !known:
		return 0, text.UnknownChoice
	}
	return float64(k), text.OK
}
