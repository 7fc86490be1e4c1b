package protobuf

import (
	"fmt"

	"google.golang.org/protobuf/reflect/protoreflect"

	"oriel/schemas/mapping"
)

// find returns the field of a message that a path names. The path has the names of the reader's message; if that is
// nil, the names are the message's own. Both results are nil if the message has no such field.
//
// A field with the same number is the same field, even under another name. A field not found by its number may have got
// another number, so it is then searched by its name. Both rules must give the same field, which must not belong to
// another field of the reader, because otherwise a value would silently take the place of another.
func (c *compiler) find(
	d, reader protoreflect.MessageDescriptor, name string, at mapping.Path,
) (fd, of protoreflect.FieldDescriptor) {
	if reader == nil {
		return fieldNamed(d, name), nil
	}
	if of = fieldNamed(reader, name); of == nil {
		return nil, nil
	}
	fd = d.Fields().ByNumber(of.Number())
	named := d.Fields().ByTextName(of.TextName())
	switch {
	case fd == nil:
		fd = named
	case named != nil && named != fd:
		c.refuse(at, "field %s of the reader's schema may be %s or %s here", numbered(of), numbered(fd), numbered(named))
		return nil, nil
	}
	if fd == nil {
		return nil, of
	}
	for _, other := range []protoreflect.FieldDescriptor{
		reader.Fields().ByNumber(fd.Number()), reader.Fields().ByTextName(fd.TextName()),
	} {
		if other != nil && other.Number() != of.Number() {
			c.refuse(at, "field %s may be %s or %s of the reader's schema", numbered(fd), numbered(of), numbered(other))
			return nil, nil
		}
	}
	if moved := fd.Number() != of.Number() || fd.TextName() != of.TextName(); moved && !alike(fd, of) {
		c.refuse(at, "field %s holds %s, and field %s of the reader's schema %s: they are different fields",
			numbered(fd), kindName(fd), numbered(of), kindName(of))
		return nil, nil
	}
	return fd, of
}

// numbered returns a field as an error names it: total (3).
func numbered(fd protoreflect.FieldDescriptor) string {
	return fmt.Sprintf("%s (%d)", fd.Name(), fd.Number())
}

// alike reports whether b can be field a under another name or number.
func alike(a, b protoreflect.FieldDescriptor) bool {
	if a.IsList() != b.IsList() || a.IsMap() != b.IsMap() {
		return false
	}
	if a.IsMap() {
		a, b = a.MapValue(), b.MapValue()
	}
	k := kindAt(a)
	return k == kindAt(b) && (k != mapping.Absent || (a.Message() == nil) == (b.Message() == nil))
}

// kindName describes the type of a field in an error.
func kindName(fd protoreflect.FieldDescriptor) string {
	kind := fd.Kind().String()
	if m := fd.Message(); m != nil {
		kind = string(m.FullName())
	}
	switch {
	case fd.IsMap():
		return "a map"
	case fd.IsList():
		return "a list of " + kind
	}
	return kind
}

// below returns the message type of a reader's field, or nil if the field has no message type.
func below(of protoreflect.FieldDescriptor) protoreflect.MessageDescriptor {
	if of == nil {
		return nil
	}
	return of.Message()
}

// symbolsOf returns the names of an enum's numbers: the reader's names for the numbers that it has. of is the reader's
// field, or nil if none is known.
func (c *compiler) symbolsOf(
	d protoreflect.EnumDescriptor, of protoreflect.FieldDescriptor, at mapping.Path,
) *symbols {
	s := &symbols{large: map[int32][]byte{}, closed: d.IsClosed()}
	var reader protoreflect.EnumDescriptor
	if of != nil && of.Enum() != nil {
		reader = of.Enum()
		s.closed = reader.IsClosed()
	}
	for i := range d.Values().Len() {
		v := d.Values().Get(i)
		name := v.Name()
		if reader != nil {
			name = c.symbol(v, reader, at)
		}
		s.add(int32(v.Number()), []byte(name))
	}
	if reader == nil {
		return s
	}
	for i := range reader.Values().Len() {
		v := reader.Values().Get(i)
		s.add(int32(v.Number()), []byte(v.Name()))
	}
	return s
}

// symbol returns the reader's name for a symbol. It refuses a symbol that the reader has under another number.
func (c *compiler) symbol(
	v protoreflect.EnumValueDescriptor, reader protoreflect.EnumDescriptor, at mapping.Path,
) protoreflect.Name {
	same := reader.Values().ByNumber(v.Number())
	other := reader.Values().ByName(v.Name())
	switch {
	case other != nil && other.Number() != v.Number():
		c.refuse(at, "%s of enum %s has the number %d, and in the reader's schema %d", v.Name(), v.Parent().Name(),
			v.Number(), other.Number())
	case same != nil:
		return same.Name()
	}
	return v.Name()
}
