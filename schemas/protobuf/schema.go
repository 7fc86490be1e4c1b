package protobuf

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	"oriel/schemas/mapping"
)

// Limits of schema files.
const (
	maxBytes   = 4 << 20 // total size of all files
	maxFiles   = 256
	maxNesting = 100 // of brackets in a .proto file
)

// Schema is the message type of records in a schema file.
type Schema struct {
	message protoreflect.MessageDescriptor
	files   []File
}

// File is a file that a schema was read from.
type File struct {
	Name    string // relative to the folder of the schema file
	Content []byte
}

// Read reads a .proto file and its imports, relative to its folder, or a FileDescriptorSet as protoc and buf write it.
// Imports of google/protobuf need no file. message is the name of the record type, with its package. It may be empty if
// the file has only one message at the top level. read must return the content of a file.
func Read(name, message string, read func(name string) ([]byte, error)) (*Schema, error) {
	s := &Schema{}
	file, err := s.readFile(name, message, read)
	if err != nil {
		return nil, fmt.Errorf("protobuf: %s: %w", name, err)
	}
	if s.message, err = messageOf(file, protoreflect.FullName(message)); err != nil {
		return nil, fmt.Errorf("protobuf: %s: %w", name, err)
	}
	slices.SortFunc(s.files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return s, nil
}

// NameAt returns the full name of the message type at an index, in the form of Schema.Index, in a file that Read can
// read.
func NameAt(name string, index []int, read func(name string) ([]byte, error)) (string, error) {
	file, err := (&Schema{}).readFile(name, "", read)
	if err != nil {
		return "", fmt.Errorf("protobuf: %s: %w", name, err)
	}
	all, found := file.Messages(), protoreflect.MessageDescriptor(nil)
	for _, place := range index {
		if place < 0 || place >= all.Len() {
			var names []string
			for i := range all.Len() {
				names = append(names, string(all.Get(i).FullName()))
			}
			return "", fmt.Errorf("protobuf: %s: records name message type number %d (index %v), and the file has %d at that place: %s; "+
				"records may be of another version of the file", name, place+1, index, len(names), mapping.Listed(names))
		}
		found = all.Get(place)
		all = found.Messages()
	}
	if found == nil {
		return "", fmt.Errorf("protobuf: %s: no place of a message type", name)
	}
	return string(found.FullName()), nil
}

// readFile compiles the file of a schema, and keeps the files that were read.
func (s *Schema) readFile(
	name, message string, read func(name string) ([]byte, error),
) (protoreflect.FileDescriptor, error) {
	total := 0
	folder := path.Dir(name)
	bounded := func(at string) ([]byte, error) {
		content, err := read(path.Join(folder, at))
		if err != nil {
			return nil, err
		}
		if total += len(content); total > maxBytes || len(s.files) == maxFiles {
			return nil, fmt.Errorf("more than %d files or %d bytes", maxFiles, maxBytes)
		}
		s.files = append(s.files, File{at, content})
		return content, nil
	}
	if path.Ext(name) == ".proto" {
		return compile(path.Base(name), bounded)
	}
	return unmarshal(path.Base(name), bounded, message)
}

// Name returns the full name of the message type.
func (s *Schema) Name() string { return string(s.message.FullName()) }

// Files returns the files from which the schema was read, by name.
func (s *Schema) Files() []File { return s.files }

// Index returns the index of the message type in its file, from the outermost message, as Confluent's framing writes
// it.
func (s *Schema) Index() []int {
	var index []int
	for d := protoreflect.Descriptor(s.message); d != nil; d = d.Parent() {
		if _, isFile := d.(protoreflect.FileDescriptor); isFile {
			break
		}
		index = append(index, d.Index())
	}
	slices.Reverse(index)
	return index
}

// compile compiles a .proto file. It also accepts a descriptor, because some producers register one instead of the
// text.
func compile(name string, read func(name string) ([]byte, error)) (protoreflect.FileDescriptor, error) {
	resolve := protocompile.ResolverFunc(func(imported string) (protocompile.SearchResult, error) {
		content, err := read(imported)
		if err != nil {
			return protocompile.SearchResult{}, err
		}
		if file := descriptor(content); file != nil {
			file.Name = proto.String(imported)
			return protocompile.SearchResult{Proto: file}, nil
		}
		// A bound is needed because the compiler recurses without a limit.
		if mapping.Nesting(content, "{}[]()<>") > maxNesting {
			return protocompile.SearchResult{}, fmt.Errorf("brackets nest deeper than %d", maxNesting)
		}
		return protocompile.SearchResult{Source: bytes.NewReader(content)}, nil
	})
	c := protocompile.Compiler{Resolver: protocompile.WithStandardImports(resolve), MaxParallelism: 1}
	files, err := c.Compile(context.Background(), name)
	if err != nil {
		return nil, err
	}
	return files[0], nil
}

// messageOf finds the message type of records in a file.
func messageOf(file protoreflect.FileDescriptor, name protoreflect.FullName) (protoreflect.MessageDescriptor, error) {
	if name == "" && file.Messages().Len() == 1 {
		return file.Messages().Get(0), nil
	}
	var names []string
	var found protoreflect.MessageDescriptor
	var walk func(all protoreflect.MessageDescriptors)
	walk = func(all protoreflect.MessageDescriptors) {
		for i := range all.Len() {
			d := all.Get(i)
			if d.IsMapEntry() {
				continue
			}
			names = append(names, string(d.FullName()))
			if d.FullName() == name {
				found = d
			}
			walk(d.Messages())
		}
	}
	walk(file.Messages())
	switch {
	case found != nil:
		return found, nil
	case len(names) == 0:
		return nil, errors.New("the file has no message")
	case name == "":
		return nil, fmt.Errorf("the file has several messages, and none is named: %s", mapping.Listed(names))
	}
	return nil, fmt.Errorf("the file has no message %s; it has %s", name, mapping.Listed(names))
}
