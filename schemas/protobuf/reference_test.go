package protobuf

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"

	"oriel/mechanisms/mechtest/tiertest"
	"oriel/schemas/mapping"
	"oriel/schemas/mapping/mappingtest"
	"oriel/schemas/text"
)

// readText reads a schema that is a single file.
func readText(t testing.TB, text, message string) *Schema {
	t.Helper()
	s, err := Read("a/events.proto", message, func(name string) ([]byte, error) {
		if name != "a/events.proto" {
			return nil, fs.ErrNotExist
		}
		return []byte(text), nil
	})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s
}

// referenceValues reads values from a dynamic message, at paths of the reader's schema. The library panics if the key
// of a map's entry has a wrong wire type (google.golang.org/protobuf 1.36.12), so the reader of events must not depend
// on it.
func referenceValues(s, reader *Schema, paths []mapping.Path, record []byte) (values []mapping.Value, err error) {
	defer func() {
		if r := recover(); r != nil && strings.Contains(fmt.Sprint(r), "to map key") {
			err = fmt.Errorf("panic: %v", r)
		} else if r != nil {
			panic(r)
		}
	}()
	m := dynamicpb.NewMessage(s.message)
	record = closedAway(record, s.message, reader.message)
	if err := (proto.UnmarshalOptions{AllowPartial: true}).Unmarshal(record, m); err != nil {
		return nil, err
	}
	values = make([]mapping.Value, len(paths))
	for i, path := range paths {
		values[i] = referenceMessage(m, reader.message, path)
	}
	return values, nil
}

func referenceMessage(m protoreflect.Message, reader protoreflect.MessageDescriptor, path mapping.Path) mapping.Value {
	if len(path) == 0 {
		return referenceWhole(m)
	}
	of := reader.Fields().ByTextName(path[0])
	fd := m.Descriptor().Fields().ByNumber(of.Number())
	if fd == nil || fd.HasPresence() && !m.Has(fd) {
		return mapping.Value{}
	}
	v := m.Get(fd)
	switch {
	case fd.IsMap():
		key := protoreflect.ValueOfString(path[1]).MapKey()
		if !v.Map().Has(key) {
			return mapping.Value{}
		}
		return referenceValue(fd.MapValue(), of.MapValue(), v.Map().Get(key), path[2:])
	case fd.IsList():
		index, err := strconv.Atoi(path[1])
		if err != nil || index >= v.List().Len() {
			return mapping.Value{}
		}
		return referenceValue(fd, of, v.List().Get(index), path[2:])
	}
	return referenceValue(fd, of, v, path[1:])
}

func referenceWhole(m protoreflect.Message) mapping.Value {
	fields := m.Descriptor().Fields()
	if m.Descriptor().FullName() == "google.protobuf.Timestamp" {
		return mapping.Value{
			Kind: mapping.Time, Seconds: m.Get(fields.ByNumber(1)).Int(), Nanos: int32(m.Get(fields.ByNumber(2)).Int()),
		}
	}
	return referenceValue(fields.ByNumber(1), nil, m.Get(fields.ByNumber(1)), nil)
}

func referenceValue(fd, of protoreflect.FieldDescriptor, v protoreflect.Value, path mapping.Path) mapping.Value {
	switch x := v.Interface().(type) {
	case protoreflect.Message:
		return referenceMessage(x, of.Message(), path)
	case string:
		return mapping.Value{Kind: mapping.Text, Text: []byte(x)}
	case bool:
		return mapping.Truth(x)
	case protoreflect.EnumNumber:
		symbol := of.Enum().Values().ByNumber(x)
		if symbol == nil {
			symbol = fd.Enum().Values().ByNumber(x)
		}
		if symbol == nil {
			return mapping.Value{Kind: mapping.Text, Text: strconv.AppendInt(nil, int64(x), 10)}
		}
		return mapping.Value{Kind: mapping.Text, Text: []byte(symbol.Name())}
	case int32:
		return mapping.Value{Kind: mapping.Number, Number: float64(x)}
	case int64:
		return mapping.Value{Kind: mapping.Number, Number: float64(x)}
	case uint32:
		return mapping.Value{Kind: mapping.Number, Number: float64(x)}
	case uint64:
		return mapping.Value{Kind: mapping.Number, Number: float64(x)}
	case float32:
		return mapping.Value{Kind: mapping.Number, Number: float64(x)}
	case float64:
		return mapping.Value{Kind: mapping.Number, Number: x}
	}
	panic("BUG: no such value")
}

// drawSchema returns a random .proto file with messages M0, M1, … that refer to themselves and one another.
func drawSchema(r *rand.Rand, syntax string) string {
	scalars := []string{
		"int32", "int64", "uint32", "uint64", "sint32", "sint64", "fixed32", "fixed64", "sfixed32", "sfixed64", "float",
		"double", "bool", "string", "bytes", "E",
	}
	const messages = 4
	kind := func() string {
		switch n := r.IntN(10); {
		case n == 0:
			return "google.protobuf.Timestamp"
		case n == 1:
			return "google.protobuf.DoubleValue"
		case n < 5:
			return fmt.Sprintf("M%d", r.IntN(messages))
		default:
			return scalars[r.IntN(len(scalars))]
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s;\n", syntax)
	b.WriteString("import \"google/protobuf/timestamp.proto\";\nimport \"google/protobuf/wrappers.proto\";\n")
	b.WriteString("enum E { E_ZERO = 0; E_ONE = 1; E_FAR = 70000; E_LESS = -3; }\n")
	proto2 := strings.Contains(syntax, "proto2")
	for k := range messages {
		fmt.Fprintf(&b, "message M%d {\n", k)
		number := 0
		for n := range 3 + r.IntN(8) {
			number += 1 + r.IntN(3)
			if r.IntN(8) == 0 {
				number += 200
			}
			name := fmt.Sprintf("f%d", n)
			switch form := r.IntN(10); {
			case form == 0:
				fmt.Fprintf(&b, "  map<string, %s> %s = %d;\n", kind(), name, number)
			case form == 1:
				fmt.Fprintf(&b, "  oneof o%d {\n", n)
				for alternative := range 3 {
					fmt.Fprintf(&b, "    %s %s_%d = %d;\n", kind(), name, alternative, number)
					number++
				}
				b.WriteString("  }\n")
			case form == 2 && proto2:
				fmt.Fprintf(&b, "  optional group G%d_%d = %d { optional int32 inner = 1; }\n", k, n, number)
			case form <= 3:
				fmt.Fprintf(&b, "  repeated %s %s = %d;\n", kind(), name, number)
			case form <= 5 && !strings.Contains(syntax, "edition") || proto2:
				fmt.Fprintf(&b, "  optional %s %s = %d;\n", kind(), name, number)
			default:
				fmt.Fprintf(&b, "  %s %s = %d;\n", kind(), name, number)
			}
		}
		b.WriteString("}\n")
	}
	return b.String()
}

// drawPaths draws random paths at which records may have a value.
func drawPaths(r *rand.Rand, d protoreflect.MessageDescriptor, at mapping.Path, wanted int) []mapping.Path {
	var paths []mapping.Path
	for range wanted {
		p := slices.Clone(at)
		for m := d; m != nil && len(p) < 8; {
			fd := m.Fields().Get(r.IntN(m.Fields().Len()))
			p = append(p, fd.TextName())
			switch {
			case fd.IsMap():
				p, fd = append(p, []string{"", "a", "b"}[r.IntN(3)]), fd.MapValue()
			case fd.IsList():
				p = append(p, fmt.Sprint([]int{0, 1, 2, 7}[r.IntN(4)]))
			}
			if m = fd.Message(); m == nil {
				if fd.Kind() != protoreflect.BytesKind {
					paths = append(paths, p)
				}
			} else if strings.HasPrefix(string(m.FullName()), "google.") {
				paths = append(paths, p)
				m = nil
			}
		}
	}
	return mappingtest.Distinct(paths)
}

// drawRecord returns random fields of a message in any order and number, some with another wire type, some unknown.
func drawRecord(r *rand.Rand, d protoreflect.MessageDescriptor, depth int) []byte {
	var b []byte
	for range r.IntN(10) {
		if d.Fields().Len() == 0 || r.IntN(10) == 0 {
			b = drawValue(r, protowire.AppendTag(b, protowire.Number(5000+r.IntN(30)), protowire.BytesType), 2)
			continue
		}
		fd := d.Fields().Get(r.IntN(d.Fields().Len()))
		_, wire := kindOf(fd.Kind())
		switch {
		case r.IntN(20) == 0:
			wire = uint8([]int{0, 1, 2, 5}[r.IntN(4)])
			if wire == wireBytes && (fd.Message() != nil || fd.Kind() == protoreflect.StringKind || fd.IsList()) {
				continue
			}
			b = protowire.AppendTag(b, fd.Number(), protowire.Type(wire))
			b = drawValue(r, b, wire)
		case fd.IsMap():
			b = protowire.AppendTag(b, fd.Number(), protowire.BytesType)
			b = protowire.AppendBytes(b, drawEntry(r, fd, depth))
		case fd.IsList() && wire != wireBytes && wire != wireStartGroup && r.IntN(2) == 0:
			var packed []byte
			for range r.IntN(5) {
				packed = drawValue(r, packed, wire)
			}
			b = protowire.AppendBytes(protowire.AppendTag(b, fd.Number(), protowire.BytesType), packed)
		case fd.Message() != nil && depth == 0:
		default:
			b = drawField(r, b, fd, depth)
		}
	}
	return b
}

func drawField(r *rand.Rand, b []byte, fd protoreflect.FieldDescriptor, depth int) []byte {
	_, wire := kindOf(fd.Kind())
	b = protowire.AppendTag(b, fd.Number(), protowire.Type(wire))
	switch {
	case fd.Kind() == protoreflect.GroupKind:
		b = append(b, drawRecord(r, fd.Message(), max(depth-1, 0))...)
		return protowire.AppendTag(b, fd.Number(), protowire.EndGroupType)
	case fd.Message() != nil && strings.HasPrefix(string(fd.Message().FullName()), "google.protobuf.T"):
		var stamp []byte
		for range r.IntN(3) {
			stamp = protowire.AppendTag(stamp, protowire.Number(1+r.IntN(2)), protowire.VarintType)
			stamp = protowire.AppendVarint(stamp, uint64(r.IntN(1_000_000_000)))
		}
		return protowire.AppendBytes(b, stamp)
	case fd.Message() != nil:
		return protowire.AppendBytes(b, drawRecord(r, fd.Message(), depth-1))
	case fd.Enum() != nil && r.IntN(4) > 0:
		known := fd.Enum().Values()
		return protowire.AppendVarint(b, uint64(known.Get(r.IntN(known.Len())).Number()))
	}
	return drawValue(r, b, wire)
}

func drawEntry(r *rand.Rand, fd protoreflect.FieldDescriptor, depth int) []byte {
	var b []byte
	for range r.IntN(4) {
		if r.IntN(2) == 0 {
			b = protowire.AppendString(protowire.AppendTag(b, 1, protowire.BytesType), []string{"", "a", "b", "c"}[r.IntN(4)])
		} else if fd.MapValue().Message() == nil || depth > 0 {
			b = drawField(r, b, fd.MapValue(), depth)
		}
	}
	return b
}

func drawValue(r *rand.Rand, b []byte, wire uint8) []byte {
	switch wire {
	case wireVarint:
		v := r.Uint64() >> r.IntN(64)
		if r.IntN(4) == 0 { // encodes a varint longer than necessary
			return append(b, byte(v)|0x80, 0x80, 0)
		}
		return protowire.AppendVarint(b, v)
	case wireFixed32:
		return protowire.AppendFixed32(b, r.Uint32())
	case wireFixed64:
		return protowire.AppendFixed64(b, r.Uint64())
	default:
		return protowire.AppendString(b, []string{"", "a", "Zürich", "long enough to be a text"}[r.IntN(4)])
	}
}

// agree is agreeAs for a schema that is its own reader.
func agree(t *testing.T, s *Schema, source mapping.Source, paths []mapping.Path, record []byte, strict bool) bool {
	t.Helper()
	return agreeAs(t, s, s, source, paths, record, strict)
}

// agreeAs fails the test unless the reader and a dynamic message agree on a record, and returns whether both read it. A
// field that no path needs is skipped by its length, so only the dynamic message finds a fault within it. strict means
// that the record has no such fault.
func agreeAs(
	t *testing.T, s, reader *Schema, source mapping.Source, paths []mapping.Path, record []byte, strict bool,
) bool {
	t.Helper()
	values := mappingtest.Left(len(paths))
	want, err := referenceValues(s, reader, paths, record)
	code := source.Fill(values, record)
	switch {
	case err != nil && (code != text.OK || !strict):
		return false
	case code == text.InvalidUTF8, code == text.TooDeep: // the library accepts these texts and groups
		return false
	case code == text.NumberOverflow && mapping.Finite(want) == code:
		return false
	case code == text.Malformed && (slices.ContainsFunc(want, badNanos) || mayHaveLargeNumber(record)):
		return false
	case (err == nil) != (code == text.OK):
		t.Fatalf("record %x: code %v, reference: %v", record, code, err)
	}
	mappingtest.Same(t, record, paths, values, want)
	return true
}

func badNanos(v mapping.Value) bool { return v.Nanos < 0 || v.Nanos > 999_999_999 }

// mayHaveLargeNumber reports whether a number in the record could be the tag of a field above 2^29 − 1. The library
// accepts such fields within groups that the schema does not have.
func mayHaveLargeNumber(record []byte) bool {
	for i := range record {
		v, n := protowire.ConsumeVarint(record[i:])
		if n > 0 && v>>3 > maxNumber && v>>3 < 1<<31 {
			return true
		}
	}
	return false
}

var syntaxes = []string{`syntax = "proto2"`, `syntax = "proto3"`, `edition = "2023"`}

// TestReaderAgreesWithDynamicMessages compares the compiled reader with a dynamic message on records with fields in any
// order, repeated, packed or not, unknown, or of another wire type, and on damaged ones.
func TestReaderAgreesWithDynamicMessages(t *testing.T) {
	read, damaged := 0, 0
	for seed := range uint64(tiertest.Runs(40, 3000)) {
		r := rand.New(rand.NewPCG(seed, 29))
		text := drawSchema(r, syntaxes[seed%3])
		s := readText(t, text, "M0")
		paths := drawPaths(r, s.message, nil, 24)
		source, err := s.Open(paths)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for range 200 {
			record := drawRecord(r, s.message, 5)
			if agree(t, s, source, paths, record, true) {
				read++
			}
			if len(record) > 0 && agree(t, s, source, paths, mappingtest.Damage(r, record), false) {
				damaged++
			}
			if t.Failed() {
				t.Fatalf("seed %d:\n%s", seed, text)
			}
		}
	}
	if read == 0 || damaged == 0 {
		t.Fatalf("%d records were read, %d with damage: too few to tell", read, damaged)
	}
}

// FuzzRecord checks that the reader neither panics nor allocates for any record, and agrees with a dynamic message.
func FuzzRecord(f *testing.F) {
	r := rand.New(rand.NewPCG(1, 29))
	schema := readText(f, drawSchema(rand.New(rand.NewPCG(7, 29)), syntaxes[1]), "M0")
	paths := drawPaths(r, schema.message, nil, 40)
	source, err := schema.Open(paths)
	if err != nil {
		f.Fatal(err)
	}
	for range 50 {
		f.Add(drawRecord(r, schema.message, 5))
	}
	f.Add([]byte("#\xb8\xb8\xb8\xb800$"))
	f.Fuzz(func(t *testing.T, record []byte) { agree(t, schema, source, paths, record, false) })
}
