package protobuf

import (
	"bytes"
	"slices"

	"google.golang.org/protobuf/reflect/protoreflect"

	"oriel/schemas/mapping"
)

// maxIndex bounds the list indices in paths.
const maxIndex = 1 << 24

// field compiles a field together with the paths below it. of is the same field in the reader's schema, or nil if that
// schema lacks it.
func (c *compiler) field(f *field, fd, of protoreflect.FieldDescriptor, t *mapping.Tree, at mapping.Path) {
	f.as, f.wire = kindOf(fd.Kind())
	switch {
	case fd.IsMap():
		c.keys(f, fd, of, t, at)
	case fd.IsList():
		c.list(f, fd, of, t, at)
	default:
		f.place, f.child = c.value(f, fd, of, t, at)
	}
}

// value compiles a value that is not a list: its destination, or the message in which paths continue.
func (c *compiler) value(
	f *field, fd, of protoreflect.FieldDescriptor, t *mapping.Tree, at mapping.Path,
) (place int32, child *message) {
	switch {
	case fd.Message() != nil && t.Place >= 0:
		return -1, c.whole(fd.Message(), t, at)
	case fd.Message() != nil:
		return -1, c.message(fd.Message(), below(of), t, at)
	case len(t.Below) > 0:
		c.refuse(append(slices.Clone(at), t.Below[0].Name), "field %s is a %s: nothing lies below it", fd.Name(), fd.Kind())
	case f.as == asNothing:
		c.refuse(at, "field %s is %s, which is no value of an event", fd.Name(), fd.Kind())
	case fd.Enum() != nil:
		f.symbols = c.symbolsOf(fd.Enum(), of, at)
	}
	return int32(t.Place), nil
}

// whole compiles a message type that is a single value, for example Timestamp.
func (c *compiler) whole(d protoreflect.MessageDescriptor, t *mapping.Tree, at mapping.Path) *message {
	m := &message{state: c.newState()}
	place := int32(t.Place)
	switch {
	case len(t.Below) > 0:
		c.refuse(at, "%s is taken as a whole, and a part of it as well", d.FullName())
	case d.FullName() == "google.protobuf.Timestamp":
		c.times = append(c.times, place)
		m.zeros = []zero{{place, mapping.Value{Kind: mapping.Time}}}
		m.add([]*field{
			{number: 1, as: asSeconds, wire: wireVarint, place: place},
			{number: 2, as: asNanos, wire: wireVarint, place: place},
		})
	case d.FullName() == "google.type.Date":
		c.dates = append(c.dates, place)
		m.zeros = []zero{{place, mapping.Value{Kind: mapping.Time}}}
		m.add([]*field{
			{number: 1, as: asYear, wire: wireVarint, place: place},
			{number: 2, as: asMonth, wire: wireVarint, place: place},
			{number: 3, as: asDate, wire: wireVarint, place: place},
		})
	case isWrapper(d):
		f := &field{number: 1, place: place}
		f.as, f.wire = kindOf(d.Fields().ByNumber(1).Kind())
		m.zeros = []zero{{place, f.zero()}}
		m.add([]*field{f})
	default:
		c.refuse(at, "message %s is no value of an event: name a field of it, %s", d.FullName(), fieldNames(d))
	}
	return m
}

// isTime reports whether a message is a time as a whole.
func isTime(d protoreflect.MessageDescriptor) bool {
	return d.FullName() == "google.protobuf.Timestamp" || d.FullName() == "google.type.Date"
}

// isWrapper reports whether a message of google/protobuf/wrappers.proto holds a value that events can have.
func isWrapper(d protoreflect.MessageDescriptor) bool {
	switch d.FullName() {
	case "google.protobuf.DoubleValue", "google.protobuf.FloatValue", "google.protobuf.Int64Value",
		"google.protobuf.UInt64Value", "google.protobuf.Int32Value", "google.protobuf.UInt32Value",
		"google.protobuf.BoolValue", "google.protobuf.StringValue":
		return d.Fields().ByNumber(1) != nil
	}
	return false
}

func (c *compiler) list(f *field, fd, of protoreflect.FieldDescriptor, t *mapping.Tree, at mapping.Path) {
	f.list = &list{state: c.newState()}
	if t.Place >= 0 {
		c.refuse(at, "field %s is a list: name the place of an element behind it, /0 the first", fd.Name())
	}
	for _, b := range t.Below {
		path := append(slices.Clone(at), b.Name)
		index := b.Index()
		if index < 0 || index > maxIndex {
			c.refuse(path, "field %s is a list, and %s is no place in it, from 0 to %d", fd.Name(), b.Name, maxIndex)
			continue
		}
		p := pick{index: int32(index)}
		p.place, p.child = c.value(f, fd, of, b.Tree, path)
		f.list.picks = append(f.list.picks, p)
	}
	slices.SortFunc(f.list.picks, func(a, b pick) int { return int(a.index - b.index) })
}

func (c *compiler) keys(f *field, fd, of protoreflect.FieldDescriptor, t *mapping.Tree, at mapping.Path) {
	f.keys = &keys{}
	if of != nil {
		of = of.MapValue()
	}
	switch {
	case t.Place >= 0:
		c.refuse(at, "field %s is a map: name a key behind it", fd.Name())
	case fd.MapKey().Kind() != protoreflect.StringKind:
		c.refuse(at, "field %s is a map whose keys are no texts", fd.Name())
	}
	for _, b := range t.Below {
		p := keyPick{key: []byte(b.Name), value: field{number: uint64(fd.MapValue().Number()), place: -1}}
		p.all = subtree{places: b.Tree.Places(), from: c.states}
		c.field(&p.value, fd.MapValue(), of, b.Tree, append(slices.Clone(at), b.Name))
		if p.all.to = c.states; p.value.place >= 0 {
			p.zero = p.value.zero()
		}
		f.keys.picks = append(f.keys.picks, p)
	}
	slices.SortFunc(f.keys.picks, func(a, b keyPick) int { return bytes.Compare(a.key, b.key) })
}

// kindOf returns the conversion of values of a kind, and their wire type.
func kindOf(kind protoreflect.Kind) (as, uint8) {
	switch kind {
	case protoreflect.Int32Kind:
		return asInt32, wireVarint
	case protoreflect.Int64Kind:
		return asInt64, wireVarint
	case protoreflect.Uint32Kind:
		return asUint32, wireVarint
	case protoreflect.Uint64Kind:
		return asUint64, wireVarint
	case protoreflect.Sint32Kind:
		return asSint32, wireVarint
	case protoreflect.Sint64Kind:
		return asSint64, wireVarint
	case protoreflect.BoolKind:
		return asBool, wireVarint
	case protoreflect.EnumKind:
		return asEnum, wireVarint
	case protoreflect.Fixed32Kind:
		return asFixed32, wireFixed32
	case protoreflect.Sfixed32Kind:
		return asSfixed32, wireFixed32
	case protoreflect.FloatKind:
		return asFloat, wireFixed32
	case protoreflect.Fixed64Kind:
		return asFixed64, wireFixed64
	case protoreflect.Sfixed64Kind:
		return asSfixed64, wireFixed64
	case protoreflect.DoubleKind:
		return asDouble, wireFixed64
	case protoreflect.StringKind:
		return asText, wireBytes
	case protoreflect.MessageKind:
		return asMessage, wireBytes
	case protoreflect.GroupKind:
		return asGroup, wireStartGroup
	default: // bytes
		return asNothing, wireBytes
	}
}

// zero returns the value of a field without presence that is left out.
func (f *field) zero() mapping.Value {
	switch f.as {
	case asText:
		return mapping.Value{Kind: mapping.Text}
	case asBool:
		return mapping.Value{Kind: mapping.Bool}
	case asEnum:
		return f.symbols.value(0)
	default:
		return mapping.Value{Kind: mapping.Number}
	}
}

// maxSymbols bounds the enum numbers whose symbols are found by index.
const maxSymbols = 1024

// add gives an enum number its symbol. If a number has two symbols, the first counts.
func (s *symbols) add(number int32, name []byte) {
	if number < 0 || number >= maxSymbols {
		if s.large[number] == nil {
			s.large[number] = name
		}
		return
	}
	for int(number) >= len(s.near) {
		s.near = append(s.near, nil)
	}
	if s.near[number] == nil {
		s.near[number] = name
	}
}
