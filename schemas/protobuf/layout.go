package protobuf

import (
	"google.golang.org/protobuf/reflect/protoreflect"

	"oriel/schemas/mapping"
)

// At implements mapping.Layout.
func (s *Schema) At(p mapping.Path) (mapping.Shape, []string) {
	d := s.message
	for k, name := range p {
		fd := fieldNamed(d, name)
		switch {
		case fd == nil:
			return mapping.NoShape, nil
		case k == len(p)-1 && fd.IsList():
			return mapping.ListShape, nil
		case k == len(p)-1 && isScalar(fd):
			return mapping.ScalarShape, nil
		case fd.Message() == nil || fd.IsList() || fd.IsMap():
			return mapping.NoShape, nil
		}
		d = fd.Message()
	}
	var scalars []string
	for i := range d.Fields().Len() {
		if fd := d.Fields().Get(i); !fd.IsList() && isScalar(fd) {
			scalars = append(scalars, fd.TextName())
		}
	}
	return mapping.RecordShape, scalars
}

// Names returns the names of all fields of the message at a path, or none if there is no message with its own fields.
func (s *Schema) Names(p mapping.Path) (names []string) {
	if shape, _ := s.At(p); shape != mapping.RecordShape {
		return nil
	}
	d := s.message
	for _, name := range p {
		d = fieldNamed(d, name).Message()
	}
	for i := range d.Fields().Len() {
		names = append(names, d.Fields().Get(i).TextName())
	}
	return names
}

// isScalar reports whether a value of the field can be a value of an event.
func isScalar(fd protoreflect.FieldDescriptor) bool {
	if d := fd.Message(); d != nil {
		return !fd.IsMap() && (isTime(d) || isWrapper(d))
	}
	return fd.Kind() != protoreflect.BytesKind
}

// KindAt returns the kind that all values at a path have, or Absent if there is none.
func (s *Schema) KindAt(p mapping.Path) mapping.Kind {
	d, k := s.message, mapping.Absent
	for i := 0; i < len(p); i++ {
		if d == nil {
			return mapping.Absent
		}
		fd := fieldNamed(d, p[i])
		if fd == nil {
			return mapping.Absent
		}
		if fd.IsList() || fd.IsMap() {
			if i++; i == len(p) { // the path ends without the index or key
				return mapping.Absent
			}
			if fd.IsMap() {
				fd = fd.MapValue()
			}
		}
		d, k = fd.Message(), kindAt(fd)
	}
	return k
}

// kindAt returns the kind of a value, or of an element of a list.
func kindAt(fd protoreflect.FieldDescriptor) mapping.Kind {
	d := fd.Message()
	switch {
	case d == nil:
	case isTime(d):
		return mapping.Time
	case isWrapper(d):
		return kindAt(d.Fields().ByNumber(1))
	default:
		return mapping.Absent
	}
	switch k := fd.Kind(); {
	case k == protoreflect.BytesKind:
		return mapping.Absent
	case k == protoreflect.BoolKind:
		return mapping.Bool
	case k == protoreflect.StringKind, k == protoreflect.EnumKind:
		return mapping.Text
	}
	return mapping.Number
}
