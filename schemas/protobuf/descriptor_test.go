package protobuf

import (
	"encoding/base64"
	"slices"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	"oriel/schemas/mapping/mappingtest"
)

func TestDescriptorSetIsASchemaToo(t *testing.T) {
	compiled := shop(t)
	set := &descriptorpb.FileDescriptorSet{}
	for _, name := range []string{"google/protobuf/timestamp.proto", "money.proto"} {
		for i := range compiled.message.ParentFile().Imports().Len() {
			if f := compiled.message.ParentFile().Imports().Get(i); f.Path() == name {
				set.File = append(set.File, protodesc.ToFileDescriptorProto(f))
			}
		}
	}
	set.File = append(set.File, protodesc.ToFileDescriptorProto(compiled.message.ParentFile()))
	b, err := proto.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Read("order.bin", "", readFiles(map[string]string{"order.bin": string(b)}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Open(mappingtest.Paths(t, "/total/units", "/placed_at", "/lines/0/article")); err != nil {
		t.Error(err)
	}
}

// TestDescriptorsInPlaceOfTexts uses descriptors in base64 instead of texts. Confluent's Python serializer registers
// these, under its own names, and some registries return them unchanged. They must give the same message type as the
// texts.
func TestDescriptorsInPlaceOfTexts(t *testing.T) {
	texts := shop(t)
	file := texts.message.ParentFile()
	encoded := map[string]string{}
	for i := range file.Imports().Len() {
		if f := file.Imports().Get(i); f.Path() == "money.proto" {
			encoded["money.proto"] = base64Of(t, protodesc.ToFileDescriptorProto(f))
		}
	}
	order := protodesc.ToFileDescriptorProto(file)
	for _, m := range order.GetMessageType() {
		for _, f := range m.GetField() {
			f.JsonName = nil
		}
	}
	encoded["schema.proto"] = base64Of(t, order)
	s, err := Read("schema.proto", "", readFiles(encoded))
	if err != nil {
		t.Fatal(err)
	}
	if s.Name() != texts.Name() || !slices.Equal(s.Index(), texts.Index()) {
		t.Errorf("%s at %d, want %s at %d", s.Name(), s.Index(), texts.Name(), texts.Index())
	}
	if _, err := s.Open(mappingtest.Paths(t, "/total/units", "/placedAt", "/lines/0/article", "/cash")); err != nil {
		t.Error(err)
	}
	delete(encoded, "money.proto")
	if _, err := Read("schema.proto", "", readFiles(encoded)); err == nil {
		t.Error("a schema whose import is missing was read")
	}
}

// TestJSONNames compares the JSON names with the compiler's.
func TestJSONNames(t *testing.T) {
	text := `syntax = "proto3"; message A { int32 placed_at = 1; int32 A_b_9c__D_ = 2; int32 _x = 3; int32 plain = 4; }`
	s, err := Read("a.proto", "", readFiles(map[string]string{"a.proto": text}))
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.message.Fields().Len() {
		if f := s.message.Fields().Get(i); jsonName(string(f.Name())) != f.JSONName() {
			t.Errorf("%s is %s, want %s", f.Name(), jsonName(string(f.Name())), f.JSONName())
		}
	}
}

// TestDescriptorsThatAreTexts checks that a content that is not a descriptor is compiled as a text.
func TestDescriptorsThatAreTexts(t *testing.T) {
	nested := &descriptorpb.DescriptorProto{Name: proto.String("M")}
	for range 2 * maxNesting {
		nested = &descriptorpb.DescriptorProto{Name: proto.String("M"), NestedType: []*descriptorpb.DescriptorProto{nested}}
	}
	types := []*descriptorpb.DescriptorProto{nested}
	deep := &descriptorpb.FileDescriptorProto{Name: proto.String("a"), MessageType: types}
	for _, text := range []string{
		"", "message", "//comment", orders, base64Of(t, deep), base64Of(t, &descriptorpb.FileDescriptorProto{}),
	} {
		if descriptor([]byte(text)) != nil {
			t.Errorf("%.40q was taken for a descriptor", text)
		}
	}
}

func base64Of(t *testing.T, file *descriptorpb.FileDescriptorProto) string {
	t.Helper()
	b, err := proto.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(b)
}
