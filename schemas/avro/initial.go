package avro

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"oriel/schemas/mapping"
)

// initial appends the values of the reader's default at paths below a field that the writer lacks.
func (c *compiler) initial(dst []initial, r *typ, value any, t *mapping.Tree) []initial {
	if r = c.branchOf(r, value); r == nil {
		c.refuse(c.wrong, t, "the default in the reader's schema is not of the field's type")
		return dst
	}
	if t.Place >= 0 {
		v := r.constant(value)
		c.kinds[t.Place].Add(v.Kind)
		dst = append(dst, initial{int32(t.Place), v})
	}
	members, _ := value.(map[string]any)
	items, _ := value.([]any)
	for _, b := range t.Below {
		switch index := b.Index(); {
		case r.kind == recordKind:
			if k, _ := r.find(b.Name, nil); k >= 0 {
				f := &r.fields[k]
				if inner, given := members[f.name]; given {
					dst = c.initial(dst, f.typ, inner, b.Tree)
				} else if f.hasDefault {
					dst = c.initial(dst, f.typ, f.initial, b.Tree)
				}
			}
		case r.kind == mapKind && members[b.Name] != nil:
			dst = c.initial(dst, r.items, members[b.Name], b.Tree)
		case r.kind == arrayKind && index >= 0 && index < len(items):
			dst = c.initial(dst, r.items, items[index], b.Tree)
		}
	}
	return dst
}

// maxChecks bounds the comparisons of defaults with types. Records in unions in records could need any number.
const maxChecks = 1 << 20

// branchOf returns the type of a default: t itself, or the first branch of a union that it is valid for. It returns nil
// if there is none.
func (c *compiler) branchOf(t *typ, value any) *typ {
	if c.checks++; c.checks > maxChecks {
		return nil
	}
	for _, b := range t.branches {
		if own := c.branchOf(b, value); own != nil {
			return own
		}
	}
	if t.kind == unionKind || !c.holds(t, value) {
		return nil
	}
	return t
}

// holds reports whether a default, in JSON, is a value of a type that is no union.
func (c *compiler) holds(t *typ, value any) bool {
	number, isNumber := value.(json.Number)
	text, isText := value.(string)
	switch t.kind {
	case nullKind:
		return value == nil
	case booleanKind:
		_, is := value.(bool)
		return is
	case intKind, longKind:
		_, err := strconv.ParseInt(string(number), 10, t.kind.bits())
		return isNumber && err == nil
	case floatKind, doubleKind:
		return isNumber
	case stringKind:
		return isText
	case enumKind:
		return isText && slices.Contains(t.symbols, text)
	case bytesKind, fixedKind:
		b, ok := bytesOf(text)
		return isText && ok && (t.kind == bytesKind || len(b) == t.size)
	case arrayKind:
		items, is := value.([]any)
		return is && !slices.ContainsFunc(items, func(item any) bool { return c.branchOf(t.items, item) == nil })
	default: // a record or a map
	}
	members, is := value.(map[string]any)
	for i := range t.fields {
		f := &t.fields[i]
		member, given := members[f.name]
		is = is && (given && c.branchOf(f.typ, member) != nil || !given && f.hasDefault)
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		is = is && (t.kind == recordKind || c.branchOf(t.items, members[name]) != nil)
	}
	return is
}

// bytesOf returns the bytes of a default, which are the code points of a text.
func bytesOf(text string) (b []byte, ok bool) {
	for _, r := range text {
		if r > 0xff {
			return nil, false
		}
		b = append(b, byte(r))
	}
	return b, true
}

// constant returns a default, for which holds is true, as the value that a record would give.
func (t *typ) constant(value any) mapping.Value {
	switch x := value.(type) {
	case nil:
		return mapping.Value{Kind: mapping.Null}
	case bool:
		return mapping.Truth(x)
	case json.Number:
		if t.kind == intKind || t.kind == longKind {
			n, _ := strconv.ParseInt(string(x), 10, t.kind.bits())
			return t.whole(n)
		}
		f, _ := strconv.ParseFloat(string(x), t.kind.bits()) // infinite beyond the range, as in a record
		return mapping.Value{Kind: mapping.Number, Number: f}
	case string:
		if t.kind == stringKind || t.kind == enumKind {
			return mapping.Value{Kind: mapping.Text, Text: []byte(x)}
		}
		b, _ := bytesOf(x)
		if f, ok := (&Source{}).decimal(b, t.scale); t.decimal && ok {
			return mapping.Value{Kind: mapping.Number, Number: f}
		}
	}
	return mapping.Value{Kind: mapping.Other}
}
