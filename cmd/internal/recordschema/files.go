package recordschema

import (
	"fmt"
	"strconv"
	"strings"

	"oriel/schemas/protobuf"
	"oriel/schemas/text"
	"oriel/state"
)

// Values of ORIEL_FORMAT and ORIEL_FRAMING.
const (
	JSON     = "json"
	Avro     = "avro"
	Protobuf = "protobuf"

	Plain       = "plain"
	Confluent   = "confluent"
	CloudEvents = "cloudevents"
)

// Files is the source of a schema: a file, and the files that it imports.
type Files struct {
	Name string
	Read func(name string) ([]byte, error)

	references [][]byte // schemas that define types named in the file; nil for Protobuf
}

// InRegistry returns the files of a registry's schema, and of the schemas that it references.
func InRegistry(s *state.Schema) Files {
	name := protobuf.Registered(s.ID)
	texts, references := map[string]string{}, make([][]byte, len(s.References))
	for i, r := range s.References {
		texts[r.Name], references[i] = r.Text, []byte(r.Text)
	}
	texts[name] = s.Text // added last, so that the file wins over a reference with the same name
	return Files{Name: name, references: references, Read: func(name string) ([]byte, error) {
		text, is := texts[name]
		if !is {
			return nil, fmt.Errorf("%s: not among its references", name)
		}
		return []byte(text), nil
	}}
}

// Message returns the name of the message type at an index path in the file, as framing.Index gives it.
func (f Files) Message(index []int) (string, error) { return protobuf.NameAt(f.Name, index, f.Read) }

// ParseID parses an entry of ORIEL_SCHEMA_IDS: an id of the schema, or id=file for the id of another version, in a file
// of its own. file is empty if the entry has none.
func ParseID(s string) (id uint32, file string, err error) {
	s, file, other := strings.Cut(strings.TrimSpace(s), "=")
	n, err := strconv.ParseUint(s, 10, 32)
	if err != nil || other && file == "" {
		return 0, "", fmt.Errorf("%s: not an id from 0 to 4294967295, nor an id, =, and a file", text.Shown([]byte(s)))
	}
	return uint32(n), file, nil
}
