package protobuf

import (
	"embed"
	"encoding/base64"
	"errors"
	"path"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
)

// descriptor parses a FileDescriptorProto in base64, the form in which Confluent's Python serializer registers it. It
// returns nil if content is not one.
func descriptor(content []byte) *descriptorpb.FileDescriptorProto {
	binary, err := base64.StdEncoding.AppendDecode(nil, content)
	file := &descriptorpb.FileDescriptorProto{}
	limited := proto.UnmarshalOptions{RecursionLimit: maxNesting}
	if err != nil || limited.Unmarshal(binary, file) != nil || file.GetName() == "" {
		return nil
	}
	for _, m := range file.GetMessageType() {
		nameFields(m)
	}
	return file
}

// nameFields gives fields their JSON names, which protoc leaves out of descriptors in generated code.
func nameFields(m *descriptorpb.DescriptorProto) {
	for _, f := range m.GetField() {
		if f.JsonName == nil {
			f.JsonName = proto.String(jsonName(f.GetName()))
		}
	}
	for _, nested := range m.GetNestedType() {
		nameFields(nested)
	}
}

// jsonName returns the JSON name of a field without an explicit one, as protoc derives it: placedAt for placed_at.
func jsonName(field string) string {
	var name []byte
	for i, c := range []byte(field) {
		switch after := i > 0 && field[i-1] == '_'; {
		case c == '_':
		case after && 'a' <= c && c <= 'z':
			name = append(name, c-'a'+'A')
		default:
			name = append(name, c)
		}
	}
	return string(name)
}

// unmarshal parses a FileDescriptorSet and returns the file that has the message, or otherwise the last file, which is
// the compiled file itself.
func unmarshal(
	name string, read func(name string) ([]byte, error), message string,
) (protoreflect.FileDescriptor, error) {
	content, err := read(name)
	if err != nil {
		return nil, err
	}
	var set descriptorpb.FileDescriptorSet
	if err := proto.Unmarshal(content, &set); err != nil || len(set.GetFile()) == 0 {
		return nil, errors.New("neither a .proto file, by its name, nor a FileDescriptorSet")
	}
	files, err := protodesc.NewFiles(&set)
	if err != nil {
		return nil, err
	}
	if d, err := files.FindDescriptorByName(protoreflect.FullName(message)); err == nil {
		return d.ParentFile(), nil
	}
	return files.FindFileByPath(set.GetFile()[len(set.GetFile())-1].GetName())
}

// known has the files that schemas import without listing them: Confluent's registry and its serializers have these
// files built in, as all compilers have google/protobuf. They define only the parts of the public interfaces that the
// encoding needs: names and numbers.
//
//go:embed known
var known embed.FS

// orKnown returns a function that reads known files where the schema has no file of its own.
func orKnown(read func(name string) ([]byte, error)) func(name string) ([]byte, error) {
	return func(name string) ([]byte, error) {
		content, err := read(name)
		if err != nil {
			if built, missing := known.ReadFile(path.Join("known", name)); missing == nil {
				return built, nil
			}
		}
		return content, err
	}
}
