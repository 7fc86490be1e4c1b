package protobuf

import (
	"errors"
	"fmt"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"oriel/schemas/mapping"
)

// maxSmall bounds the field numbers that are found by index.
const maxSmall = 128

// Open returns a Source that reads the values at paths, all different. A path names fields by their names in the schema
// file or in JSON; after a list comes the index of an element, after a map a key. A path must end at a number, a text,
// a bool, an enum, a google.protobuf.Timestamp, a google.type.Date or a wrapper such as google.protobuf.DoubleValue.
// The error lists every problem.
func (s *Schema) Open(paths []mapping.Path) (mapping.Source, error) {
	return s.OpenAs(s, paths)
}

// OpenAs is Open for paths of a reader's schema, which may be another one than s. Then find maps the reader's fields to
// those of s, and fields that s lacks are absent.
func (s *Schema) OpenAs(reader *Schema, paths []mapping.Path) (mapping.Source, error) {
	c := compiler{lenient: reader != s, kinds: make([]mapping.Kinds, len(paths))}
	root := c.message(s.message, reader.message, mapping.NewTree(paths), nil)
	if err := errors.Join(c.errs...); err != nil {
		return nil, err
	}
	numbers := make([][]byte, len(paths))
	for k := range numbers {
		numbers[k] = make([]byte, 0, len("-2147483648"))
	}
	return &Source{
		root: root, state: make([]int32, c.states), times: c.times, dates: c.dates, numbers: numbers, kinds: c.kinds,
		maxCleared: max(minClears, clearsPerPath*len(paths)),
	}, nil
}

type compiler struct {
	lenient bool // fields may be missing from the writer's schema
	states  int32
	times   []int32
	kinds   []mapping.Kinds // kinds of values that records can have at each path
	dates   []int32
	errs    []error
}

func (c *compiler) refuse(at mapping.Path, format string, args ...any) {
	c.errs = append(c.errs, &mapping.PathError{Path: at, Fault: fmt.Sprintf(format, args...)})
}

func (c *compiler) newState() int32 {
	c.states++
	return c.states - 1
}

// message compiles the part of the paths below a message; at is the path to it. reader is the message in the reader's
// schema, or nil if that schema lacks it.
func (c *compiler) message(d, reader protoreflect.MessageDescriptor, t *mapping.Tree, at mapping.Path) *message {
	m := &message{state: c.newState()}
	members := map[protoreflect.FullName][]*field{} // picked fields of each oneof
	all := map[*field]subtree{}
	var fields []*field
	for _, b := range t.Below {
		path := append(slices.Clone(at), b.Name)
		fd, of := c.find(d, reader, b.Name, path)
		if fd == nil {
			switch o := d.Oneofs().ByName(protoreflect.Name(b.Name)); {
			case c.lenient: // the value stays absent
			case o != nil:
				c.refuse(path, "%s is a oneof, whose members are named without it", o.Name())
			default:
				c.refuse(path, "message %s has no field %s; it has %s", d.FullName(), b.Name, fieldNames(d))
			}
			continue
		}
		f := &field{number: uint64(fd.Number()), place: -1}
		if slices.ContainsFunc(fields, func(other *field) bool { return other.number == f.number }) {
			c.refuse(path, "field %s is named twice, by both of its names", fd.Name())
			continue
		}
		from := c.states
		c.field(f, fd, of, b.Tree, path)
		if f.place >= 0 && !fd.HasPresence() {
			m.zeros = append(m.zeros, zero{f.place, f.zero()})
		}
		all[f] = subtree{places: b.Tree.Places(), from: from, to: c.states}
		fields = append(fields, f)
		if o := fd.ContainingOneof(); o != nil && !o.IsSynthetic() {
			members[o.FullName()] = append(members[o.FullName()], f)
		}
	}
	for i := range d.Oneofs().Len() {
		if o := d.Oneofs().Get(i); len(members[o.FullName()]) > 0 {
			fields = c.oneof(o, fields, members[o.FullName()], all)
		}
	}
	m.add(fields)
	return m
}

// oneof makes each member of a oneof clear the others that paths need. Members that no path needs become fields for
// this purpose.
func (c *compiler) oneof(
	o protoreflect.OneofDescriptor, fields, needed []*field, all map[*field]subtree,
) []*field {
	for i := range o.Fields().Len() {
		fd := o.Fields().Get(i)
		k := slices.IndexFunc(needed, func(f *field) bool { return f.number == uint64(fd.Number()) })
		var f *field
		if k >= 0 {
			f = needed[k]
		} else {
			_, wire := kindOf(fd.Kind())
			f = &field{number: uint64(fd.Number()), wire: wire, place: -1}
			if e := fd.Enum(); e != nil { // an unknown number of a closed enum clears nothing
				f.symbols = c.symbolsOf(e, nil, nil)
			}
			fields = append(fields, f)
		}
		for _, other := range needed {
			if other != f {
				f.others = append(f.others, all[other])
			}
		}
	}
	return fields
}

func (m *message) add(fields []*field) {
	slices.SortFunc(fields, func(a, b *field) int { return int(int64(a.number) - int64(b.number)) })
	for _, f := range fields {
		if f.number >= maxSmall {
			m.large = append(m.large, f)
			continue
		}
		for uint64(len(m.near)) <= f.number {
			m.near = append(m.near, nil)
		}
		m.near[f.number] = f
	}
}

func fieldNamed(d protoreflect.MessageDescriptor, name string) protoreflect.FieldDescriptor {
	if fd := d.Fields().ByTextName(name); fd != nil {
		return fd
	}
	return d.Fields().ByJSONName(name)
}

func fieldNames(d protoreflect.MessageDescriptor) string {
	var names []string
	for i := range d.Fields().Len() {
		names = append(names, string(d.Fields().Get(i).Name()))
	}
	return mapping.Listed(names)
}
