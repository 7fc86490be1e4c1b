package avro

import "oriel/schemas/mapping"

// At implements mapping.Layout. For a union it describes the first branch that is not null.
func (s *Schema) At(p mapping.Path) (mapping.Shape, []string) {
	t := s.find(p)
	if t == nil {
		return mapping.NoShape, nil
	}
	switch t.kind {
	case arrayKind:
		return mapping.ListShape, nil
	case recordKind:
		var scalars []string
		for i := range t.fields {
			if t.fields[i].typ.present().scalar() {
				scalars = append(scalars, t.fields[i].name)
			}
		}
		return mapping.RecordShape, scalars
	default:
		return mapping.ScalarShape, nil
	}
}

// Names returns the names of all fields of the record at a path, or none if there is no record.
func (s *Schema) Names(p mapping.Path) (names []string) {
	if t := s.find(p); t != nil && t.kind == recordKind {
		for i := range t.fields {
			names = append(names, t.fields[i].name)
		}
	}
	return names
}

// find returns the type at a path, or nil if there is none.
func (s *Schema) find(p mapping.Path) *typ {
	t := s.root.present()
	for _, name := range p {
		if t.kind != recordKind {
			return nil
		}
		k, _ := t.find(name, nil)
		if k < 0 {
			return nil
		}
		t = t.fields[k].typ.present()
	}
	return t
}

// present returns the type of a value that is not null.
func (t *typ) present() *typ {
	for _, b := range t.branches {
		if b.kind != nullKind {
			return b
		}
	}
	return t
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
	t := s.root.present()
	for _, name := range p {
		switch t.kind {
		case recordKind:
			k, _ := t.find(name, nil)
			if k < 0 {
				return mapping.Absent
			}
			t = t.fields[k].typ
		case arrayKind, mapKind:
			t = t.items
		default:
			return mapping.Absent
		}
		some := 0
		for _, b := range t.branches {
			if b.kind != nullKind {
				some++
			}
		}
		if t = t.present(); some > 1 {
			return mapping.Absent
		}
	}
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
