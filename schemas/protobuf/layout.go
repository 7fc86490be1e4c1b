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

// Names are the names of all fields of the message at a path; none if no message with fields of its own stands there.
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

// isScalar says whether a value of the field may be one of an event.
func isScalar(fd protoreflect.FieldDescriptor) bool {
	if d := fd.Message(); d != nil {
		return !fd.IsMap() && (d.FullName() == "google.protobuf.Timestamp" || isWrapper(d))
	}
	return fd.Kind() != protoreflect.BytesKind
}
