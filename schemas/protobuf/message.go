package protobuf

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"oriel/schemas/text"
)

// message reads the fields of a message until the end of b, or, if group is not 0, until the end of that group. It
// returns the position after it.
func (s *Source) message(m *message, b []byte, group uint64) (next int, code text.Code) {
	s.enter(m)
	for i := 0; i < len(b); {
		number, wire, at := tag(b, i)
		if at < 0 {
			return 0, text.Malformed
		}
		if wire == wireEndGroup {
			if group == 0 || number != group {
				return 0, text.Malformed
			}
			return at, text.OK
		}
		f := m.find(number)
		if f == nil || !f.takes(wire) {
			if i, code = skip(b, at, number, wire); code != text.OK {
				return 0, code
			}
			continue
		}
		if i, code = s.field(f, b, at, wire); code != text.OK {
			return 0, code
		}
	}
	if group != 0 {
		return 0, text.Malformed
	}
	return len(b), text.OK
}

// takes reports whether the field may have this wire type. A field with another wire type is skipped, like an unknown
// field.
func (f *field) takes(wire uint8) bool {
	return wire == f.wire || wire == wireBytes && f.list != nil && f.wire != wireStartGroup
}

// field reads the value of a field at b[i].
func (s *Source) field(f *field, b []byte, i int, wire uint8) (next int, code text.Code) {
	if f.list == nil && f.drops(b, i) {
		return skip(b, i, f.number, wire)
	}
	for k := range f.others {
		if code = s.clear(&f.others[k]); code != text.OK {
			return 0, code
		}
	}
	switch {
	case f.list != nil:
		return s.element(f, b, i, wire)
	case f.keys != nil:
		return s.entry(f.keys, b, i)
	case f.child != nil:
		return s.child(f, f.child, b, i)
	case f.as == asNothing:
		return skip(b, i, f.number, wire)
	}
	return s.scalar(f, f.place, b, i)
}

// child reads a message or group at b[i].
func (s *Source) child(f *field, m *message, b []byte, i int) (next int, code text.Code) {
	if f.as == asGroup {
		n, code := s.message(m, b[i:], f.number)
		return i + n, code
	}
	from, to := bytesAt(b, i)
	if to < 0 {
		return 0, text.Malformed
	}
	_, code = s.message(m, b[from:to], 0)
	return to, code
}

// element reads one element of a list, or several packed elements.
func (s *Source) element(f *field, b []byte, i int, wire uint8) (next int, code text.Code) {
	if wire == f.wire {
		return s.one(f, b, i, wire)
	}
	from, to := bytesAt(b, i)
	if to < 0 {
		return 0, text.Malformed
	}
	for i = from; i < to; {
		if i, code = s.one(f, b[:to], i, f.wire); code != text.OK {
			return 0, code
		}
	}
	return to, text.OK
}

// one reads an element of a list at b[i].
func (s *Source) one(f *field, b []byte, i int, wire uint8) (next int, code text.Code) {
	if f.drops(b, i) {
		return skip(b, i, f.number, wire)
	}
	index := s.state[f.list.state]
	s.state[f.list.state]++
	p := f.list.find(index)
	switch {
	case p == nil:
		return skip(b, i, f.number, wire)
	case p.child != nil:
		return s.child(f, p.child, b, i)
	}
	return s.scalar(f, p.place, b, i)
}

// find returns the pick with an index, or nil. Picks are ascending, and mostly 0, 1, 2, ….
func (l *list) find(index int32) *pick {
	if int(index) < len(l.picks) && l.picks[index].index == index {
		return &l.picks[index]
	}
	k, found := slices.BinarySearchFunc(l.picks, index, func(p pick, index int32) int { return int(p.index - index) })
	if !found {
		return nil
	}
	return &l.picks[k]
}

// entry reads an entry of a map at b[i]: a message with the key as field 1 and the value as field 2, in any order and
// any number of times. An entry replaces an earlier one with the same key.
func (s *Source) entry(k *keys, b []byte, i int) (next int, code text.Code) {
	from, to := bytesAt(b, i)
	if to < 0 {
		return 0, text.Malformed
	}
	var key []byte
	entry := b[from:to]
	for i = 0; i < len(entry); {
		number, wire, at := tag(entry, i)
		if at < 0 {
			return 0, text.Malformed
		}
		if number == 1 && wire == wireBytes {
			if from, i = bytesAt(entry, at); i < 0 {
				return 0, text.Malformed
			}
			if key = entry[from:i]; !utf8.Valid(key) {
				return 0, text.InvalidUTF8
			}
			continue
		}
		if i, code = skip(entry, at, number, wire); code != text.OK {
			return 0, code
		}
	}
	p, found := slices.BinarySearchFunc(k.picks, key, func(p keyPick, key []byte) int { return bytes.Compare(p.key, key) })
	if !found {
		return to, text.OK
	}
	return to, s.entryValue(&k.picks[p], entry)
}

// entryValue reads the value of an entry whose grammar has been checked.
func (s *Source) entryValue(p *keyPick, entry []byte) (code text.Code) {
	if p.value.drops(entry, lastValue(&p.value, entry)) {
		return text.OK
	}
	if code = s.clear(&p.all); code != text.OK {
		return code
	}
	f := &p.value
	if f.child != nil {
		s.enter(f.child)
	} else {
		s.values[f.place] = p.zero
	}
	for i := 0; i < len(entry) && code == text.OK; {
		number, wire, at := tag(entry, i)
		if number == f.number && wire == f.wire {
			i, code = s.field(f, entry, at, wire)
		} else {
			i, code = skip(entry, at, number, wire)
		}
	}
	return code
}

// lastValue returns the position of the last value in an entry whose grammar has been checked, or the entry's end.
func lastValue(f *field, entry []byte) (last int) {
	last = len(entry)
	for i := 0; i < len(entry); {
		number, wire, at := tag(entry, i)
		if number == f.number && wire == f.wire {
			last = at
		}
		i, _ = skip(entry, at, number, wire)
	}
	return last
}
