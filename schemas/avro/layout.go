package avro

import (
	"slices"

	"oriel/schemas/mapping"
)

// At implements mapping.Layout. Where values of several types are possible, a record counts before a list, and a list
// before a single value. A record has the fields of all records of a union.
func (s *Schema) At(p mapping.Path) (shape mapping.Shape, scalars []string) {
	for _, t := range s.all(p, false) {
		switch {
		case t.kind == recordKind:
			shape = mapping.RecordShape
			for i := range t.fields {
				if f := &t.fields[i]; slices.ContainsFunc(f.typ.present(), (*typ).scalar) && !slices.Contains(scalars, f.name) {
					scalars = append(scalars, f.name)
				}
			}
		case shape == mapping.RecordShape:
		case t.kind == arrayKind:
			shape = mapping.ListShape
		case shape == mapping.NoShape:
			shape = mapping.ScalarShape
		}
	}
	return shape, scalars
}

// Names returns the names of all fields of the records at a path, or none if there is no record.
func (s *Schema) Names(p mapping.Path) (names []string) {
	for _, t := range s.all(p, false) {
		for i := range t.fields {
			if name := t.fields[i].name; !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// all returns the types, except null and unions, that values at a path can have. A path leads into lists and maps only
// if inside is true.
func (s *Schema) all(p mapping.Path, inside bool) []*typ {
	at := s.root.present()
	for _, name := range p {
		var next []*typ
		for _, t := range at {
			switch k, _ := t.find(name, nil); {
			case k >= 0:
				next = append(next, t.fields[k].typ.present()...)
			case inside && t.items != nil:
				next = append(next, t.items.present()...)
			}
		}
		slices.SortFunc(next, func(a, b *typ) int { return a.index - b.index })
		at = slices.Compact(next)
	}
	return at
}

// present returns the types of values that are not null.
func (t *typ) present() (types []*typ) {
	switch t.kind {
	case nullKind:
	case unionKind:
		for _, b := range t.branches {
			types = append(types, b.present()...)
		}
	default:
		types = append(types, t)
	}
	return types
}

// scalar reports whether a value of the type can be a value of an event.
func (t *typ) scalar() bool {
	switch t.kind {
	case nullKind, recordKind, arrayKind, mapKind, unionKind:
		return false
	case bytesKind, fixedKind:
		return t.decimal
	default:
		return true
	}
}

// KindAt returns the kind that all values at a path have, or Absent if there is no such path or the kinds differ.
func (s *Schema) KindAt(p mapping.Path) mapping.Kind {
	var found mapping.Kind
	for i, t := range s.all(p, true) {
		if k := t.valueKind(); i > 0 && k != found {
			return mapping.Absent
		} else {
			found = k
		}
	}
	return found
}

// valueKind returns the kind of a value of the type, or Absent if it can be no value of an event.
func (t *typ) valueKind() mapping.Kind {
	switch {
	case !t.scalar():
		return mapping.Absent
	case t.unit != 0:
		return mapping.Time
	case t.kind == booleanKind:
		return mapping.Bool
	case t.kind == stringKind || t.kind == enumKind:
		return mapping.Text
	}
	return mapping.Number
}
