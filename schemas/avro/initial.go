package avro

import "oriel/schemas/mapping"

// initial appends the values of the reader's default at paths below a field that the writer lacks.
func (c *compiler) initial(dst []initial, r *typ, value any, t *mapping.Tree) []initial {
	if r.kind == unionKind {
		r = r.branchOf(value)
	}
	if t.Place >= 0 {
		dst = append(dst, initial{int32(t.Place), r.constant(value)})
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

// branchOf returns the branch of a union to which a default belongs.
func (t *typ) branchOf(value any) *typ {
	for _, b := range t.branches {
		if b.holds(value) {
			return b
		}
	}
	return &typ{}
}

func (t *typ) holds(value any) bool {
	ok := false
	switch t.kind {
	case nullKind:
		ok = value == nil
	case booleanKind:
		_, ok = value.(bool)
	case intKind:
		_, ok = value.(int32)
	case longKind:
		_, ok = value.(int64)
	case floatKind:
		_, ok = value.(float32)
	case doubleKind:
		_, ok = value.(float64)
	case stringKind, enumKind:
		_, ok = value.(string)
	case bytesKind, fixedKind:
		_, ok = value.([]byte)
	case arrayKind:
		_, ok = value.([]any)
	default:
		_, ok = value.(map[string]any)
	}
	return ok
}

// constant returns a default as the value that a record would give.
func (t *typ) constant(value any) mapping.Value {
	switch x := value.(type) {
	case nil:
		return mapping.Value{Kind: mapping.Null}
	case bool:
		return mapping.Truth(x)
	case int32:
		return t.whole(int64(x))
	case int64:
		return t.whole(x)
	case float32:
		return mapping.Value{Kind: mapping.Number, Number: float64(x)}
	case float64:
		return mapping.Value{Kind: mapping.Number, Number: x}
	case string:
		return mapping.Value{Kind: mapping.Text, Text: []byte(x)}
	case []byte:
		if t.decimal {
			if f, ok := (&Source{}).decimal(x, t.scale); ok {
				return mapping.Value{Kind: mapping.Number, Number: f}
			}
		}
	}
	return mapping.Value{Kind: mapping.Other}
}
