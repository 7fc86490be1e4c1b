package protobuf

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/reflect/protoreflect"

	"oriel/schemas/mapping"
	"oriel/schemas/mapping/mappingtest"
	"oriel/schemas/text"
)

// closedAway removes from a record the numbers that closed enums do not have, as the specification requires: such a
// number is an unknown field, and so is a map's entry with such a value. The library for Go treats all enums as open.
func closedAway(record []byte, d, reader protoreflect.MessageDescriptor) (kept []byte) {
	for len(record) > 0 {
		number, wire, n := protowire.ConsumeField(record)
		if n < 0 {
			return append(kept, record...)
		}
		field := record[:n]
		record = record[n:]
		fd, of := d.Fields().ByNumber(number), reader.Fields().ByNumber(number)
		if fd == nil {
			kept = append(kept, field...)
			continue
		}
		_, _, start := protowire.ConsumeTag(field)
		value := field[start:]
		switch {
		case fd.IsMap() && wire == protowire.BytesType && dropsEntry(fd, of, value):
			continue
		case fd.Enum() != nil && wire == protowire.VarintType && lacks(fd, of, value):
			continue
		case fd.Enum() != nil && fd.IsList() && wire == protowire.BytesType:
			packed, _ := protowire.ConsumeBytes(value)
			field = protowire.AppendBytes(field[:start:start], withoutLacking(fd, of, packed))
		case fd.Message() != nil && wire == protowire.BytesType && fd.Kind() == protoreflect.MessageKind:
			inner, _ := protowire.ConsumeBytes(value)
			field = protowire.AppendBytes(field[:start:start], closedAway(inner, fd.Message(), messageOfField(fd, of)))
		case fd.Kind() == protoreflect.GroupKind && wire == protowire.StartGroupType:
			inner, _ := protowire.ConsumeGroup(number, value)
			field = protowire.AppendGroup(field[:start:start], number, closedAway(inner, fd.Message(), messageOfField(fd, of)))
		}
		kept = append(kept, field...)
	}
	return kept
}

func messageOfField(fd, of protoreflect.FieldDescriptor) protoreflect.MessageDescriptor {
	if of == nil || of.Message() == nil {
		return fd.Message()
	}
	return of.Message()
}

// lacks reports whether a varint is a number that the closed enum of a field does not have.
func lacks(fd, of protoreflect.FieldDescriptor, value []byte) bool {
	enum := fd.Enum()
	if of != nil && of.Enum() != nil {
		enum = of.Enum()
	}
	v, _ := protowire.ConsumeVarint(value)
	number := protoreflect.EnumNumber(int32(v))
	return enum.IsClosed() && enum.Values().ByNumber(number) == nil && fd.Enum().Values().ByNumber(number) == nil
}

func withoutLacking(fd, of protoreflect.FieldDescriptor, packed []byte) (kept []byte) {
	for len(packed) > 0 {
		_, n := protowire.ConsumeVarint(packed)
		if n < 0 {
			return append(kept, packed...)
		}
		if !lacks(fd, of, packed) {
			kept = append(kept, packed[:n]...)
		}
		packed = packed[n:]
	}
	return kept
}

// dropsEntry reports whether the last value in a map's entry is a number that its closed enum does not have.
func dropsEntry(fd, of protoreflect.FieldDescriptor, value []byte) (drops bool) {
	if fd.MapValue().Enum() == nil {
		return false
	}
	if of != nil {
		of = of.MapValue()
	}
	entry, _ := protowire.ConsumeBytes(value)
	for len(entry) > 0 {
		number, wire, n := protowire.ConsumeField(entry)
		if n < 0 {
			return false
		}
		if _, _, start := protowire.ConsumeTag(entry); number == 2 && wire == protowire.VarintType {
			drops = lacks(fd.MapValue(), of, entry[start:])
		}
		entry = entry[n:]
	}
	return drops
}

// TestNumbersOutsideAnEnum checks numbers that an enum lacks. An open enum (proto3) has any number, and its value is
// the number's digits. A closed enum (proto2) has only its own, and a field with another one counts as unknown.
func TestNumbersOutsideAnEnum(t *testing.T) {
	const body = ` E { NONE = 0; FIRST = 5; }
message A {
  %one E e = 1;
  repeated E list = 2;
  map<string, E> map = 3;
  oneof o { E member = 4; string text = 5; }
}`
	paths := mappingtest.Paths(t, "/e", "/list/0", "/list/1", "/map/k", "/text", "/member")
	for _, c := range []struct {
		name, record, open, closed string
	}{
		{"a number of the enum", "\x08\x05", "FIRST", "FIRST"},
		{"one that it lacks", "\x08\x07", "7", ""},
		{"one that it lacks, after one of the enum", "\x08\x05\x08\x07", "7", "FIRST"},
		{"a negative number", "\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "-1", ""},
		{"the least number", "\x08\x80\x80\x80\x80\xf8\xff\xff\xff\xff\x01", "-2147483648", ""},
		{"in a list", "\x10\x07\x10\x05", "NONE 7 FIRST", "FIRST"},
		{"in a packed list", "\x12\x03\x07\x05\x08", "NONE 7 FIRST", "FIRST"},
		{"in a map", "\x1a\x05\x0a\x01k\x10\x07", "NONE 7", ""},
		{"in a map, after one of the enum", "\x1a\x05\x0a\x01k\x10\x05\x1a\x05\x0a\x01k\x10\x07", "NONE 7", "FIRST"},
		{"in a oneof, after another member", "\x2a\x01x\x20\x07", "NONE 7", "x"},
	} {
		for syntax, want := range map[string]string{"proto3": c.open, "proto2": c.closed} {
			label := map[string]string{"proto3": "", "proto2": "optional"}[syntax]
			s := `syntax = "` + syntax + `"; enum` + strings.Replace(body, "%one", label, 1)
			source, err := readText(t, s, "A").Open(paths)
			if err != nil {
				t.Fatal(err)
			}
			values := mappingtest.Left(len(paths))
			code := source.Fill(values, []byte(c.record))
			var texts []string
			for _, v := range values {
				switch v.Kind {
				case mapping.Absent:
				case mapping.Text:
					texts = append(texts, string(v.Text))
				default:
					t.Errorf("%s, %s: %v", syntax, c.name, v.Kind)
				}
			}
			got := strings.Join(texts, " ")
			if code != text.OK || got != want {
				t.Errorf("%s, %s: %v, %q, want %q", syntax, c.name, code, got, want)
			}
			mappingtest.Code(t, source, paths, c.name, c.record, text.OK)
		}
	}
}

// TestAClosedEnumOfAOneofThatNoPathNeeds checks that a number outside the enum does not set its member, and therefore
// clears no other one, although no path reads the enum.
func TestAClosedEnumOfAOneofThatNoPathNeeds(t *testing.T) {
	paths := mappingtest.Paths(t, "/text")
	for syntax, want := range map[string]string{"proto3": "", "proto2": "x"} {
		source, err := readText(t, `syntax = "`+syntax+`"; enum E { NONE = 0; }
			message A { oneof o { E member = 4; string text = 5; } }`, "A").Open(paths)
		if err != nil {
			t.Fatal(err)
		}
		for record, want := range map[string]string{"\x2a\x01x\x20\x07": want, "\x2a\x01x\x20\x00": ""} {
			values := mappingtest.Left(1)
			if code := source.Fill(values, []byte(record)); code != text.OK || string(values[0].Text) != want {
				t.Errorf("%s, %x: %v, %q, want %q", syntax, record, code, values[0].Text, want)
			}
		}
	}
}
