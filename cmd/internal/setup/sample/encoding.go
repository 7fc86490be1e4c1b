package sample

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"oriel/cmd/internal/recordschema"
	"oriel/schemas/framing"
	"oriel/schemas/mapping"
	"oriel/state"
)

// Encoding describes the encoding of records, in the form of a deployment's settings.
type Encoding struct {
	Format     string   // ORIEL_FORMAT; empty: detected from the sample
	Framing    string   // ORIEL_FRAMING; empty: detected from the sample
	SchemaFile string   // ORIEL_SCHEMA_FILE; empty for JSON
	Message    string   // ORIEL_SCHEMA_MESSAGE
	IDs        []string // value of ORIEL_SCHEMA_IDS
	Registry   string   // ORIEL_SCHEMA_REGISTRY, instead of a file and ids
	Subject    string   // subject in the registry
	Schemas    state.Schemas
}

// Settings returns the settings of the encoding that differ from the defaults, as lines NAME=value.
func (e Encoding) Settings() (lines []string) {
	say := func(name, value, usual string) {
		if value != usual {
			lines = append(lines, name+"="+value)
		}
	}
	say("ORIEL_FORMAT", e.Format, recordschema.JSON)
	say("ORIEL_FRAMING", e.Framing, recordschema.Plain)
	say("ORIEL_SCHEMA_REGISTRY", e.Registry, "")
	say("ORIEL_SCHEMA_SUBJECT", e.Subject, "")
	say("ORIEL_SCHEMA_FILE", e.SchemaFile, "")
	say("ORIEL_SCHEMA_MESSAGE", e.Message, "")
	say("ORIEL_SCHEMA_IDS", strings.Join(e.IDs, ","), "")
	return lines
}

// ErrNoSchema is the error for records that cannot be read without a schema.
var ErrNoSchema = errors.New("records are not JSON, and nothing names their schema")

// Sniff returns the encoding, with missing fields detected from the records. If the records need a schema that is not
// named, it returns ErrNoSchema and an Encoding whose Framing is known.
func (e Encoding) Sniff(records [][]byte) (Encoding, error) {
	if len(records) == 0 {
		return e, errors.New("the sample has no record")
	}
	if e.Format == "" && e.SchemaFile != "" {
		e.Format = recordschema.Protobuf
		if filepath.Ext(e.SchemaFile) == ".avsc" {
			e.Format = recordschema.Avro
		}
	}
	switch e.Format {
	case "", recordschema.JSON, recordschema.Avro, recordschema.Protobuf:
	default:
		return e, fmt.Errorf("format %q: not one of json, avro, protobuf", e.Format)
	}
	if e.Framing == "" {
		e.Framing = e.framingOf(records)
	}
	if e.Format == "" || e.Format == recordschema.JSON {
		inside := e.events(records)
		if err := e.formOfRecords(inside); err != nil {
			return e, err
		}
		if e.Format == "" && !most(inside, isJSON) {
			return e, ErrNoSchema
		}
		e.Format = recordschema.JSON
	}
	switch {
	case e.Format == recordschema.JSON:
		return e, nil
	case e.SchemaFile == "" && len(e.Schemas) == 0:
		return e, ErrNoSchema
	}
	if e.Framing == recordschema.Confluent && len(e.IDs)+len(e.Schemas) == 0 {
		seen := IDs(records)
		if len(seen) > 1 {
			return e, fmt.Errorf("records name %d schemas, ids %s: say which file has each by --schema-ids, "+
				"ID of --schema-file and ID=FILE of another version, or name the registry", len(seen), join(seen))
		}
		if len(seen) == 0 {
			return e, errors.New("no record has Confluent's framing")
		}
		e.IDs = []string{strconv.FormatUint(uint64(seen[0]), 10)}
	}
	if e.Format == recordschema.Protobuf && e.Framing == recordschema.Confluent && e.Message == "" {
		return e.named(records)
	}
	return e, nil
}

// named sets the message type from the index in the schema file that the records name.
func (e Encoding) named(records [][]byte) (Encoding, error) {
	for _, record := range records {
		_, rest, ok := framing.Header(record)
		if !ok {
			continue
		}
		if index, ok := framing.Index(rest); ok {
			var err error
			e.Message, err = e.reader().Message(index)
			return e, err
		}
	}
	return e, errors.New("no record names a message type: name it with --schema-message")
}

// framingOf returns the framing of most of the records.
func (e Encoding) framingOf(records [][]byte) string {
	isEvent := func(record []byte) bool {
		_, ok := framing.EventOf(record, false)
		return ok
	}
	isFramed := func(record []byte) bool {
		_, _, ok := framing.Header(record)
		return ok
	}
	switch {
	case most(records, isEvent):
		return recordschema.CloudEvents
	case most(records, isFramed) && !e.readsPlain(records):
		return recordschema.Confluent
	}
	return recordschema.Plain
}

// readsPlain reports whether the schema file reads the records without framing. Records of some schemas start with a
// byte 0 without framing, like framed records.
func (e Encoding) readsPlain(records [][]byte) bool {
	if e.SchemaFile == "" {
		return false
	}
	e.Framing = recordschema.Plain
	p, err := e.Places(records)
	if err != nil {
		return false
	}
	read, err := p.Read(records, func([]mapping.Value) {})
	return err == nil && 2*read.Readable > len(records)
}

// IDs returns the ids of the schemas that records in Confluent's framing name, ascending.
func IDs(records [][]byte) (ids []uint32) {
	for _, record := range records {
		if id, _, ok := framing.Header(record); ok && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// events removes the framing of JSON records and the envelope of CloudEvents. It omits records that lack them.
func (e Encoding) events(records [][]byte) (inside [][]byte) {
	for _, record := range records {
		rest, ok := record, true
		switch {
		case e.Framing == recordschema.CloudEvents:
			rest, ok = framing.EventOf(record, e.Format == recordschema.Avro || e.Format == recordschema.Protobuf)
		case e.Framing == recordschema.Confluent && (e.Format == "" || e.Format == recordschema.JSON):
			_, rest, ok = framing.Header(record)
		}
		if ok {
			inside = append(inside, rest)
		}
	}
	return inside
}

// Inside removes a framing that contains a whole event, and returns the inner records and their encoding. An inner
// record is JSON, or a record of the schema, or a record in Confluent's framing that a schema reads.
func (e Encoding) Inside(records [][]byte) (Encoding, [][]byte) {
	inside := e.events(records)
	if e.Framing == recordschema.CloudEvents || e.Format == recordschema.JSON {
		e.Framing = recordschema.Plain
	}
	return e, inside
}

func most(records [][]byte, is func([]byte) bool) bool {
	n := 0
	for _, record := range records {
		if is(record) {
			n++
		}
	}
	return 2*n > len(records)
}

func join(ids []uint32) string {
	var texts []string
	for _, id := range ids {
		texts = append(texts, strconv.FormatUint(uint64(id), 10))
	}
	return strings.Join(texts, ", ")
}

// String describes the encoding for people.
func (e Encoding) String() string {
	name := map[string]string{
		recordschema.JSON: "JSON", recordschema.Avro: "Avro", recordschema.Protobuf: "Protobuf",
	}[e.Format]
	switch e.Framing {
	case recordschema.Confluent:
		name += " in Confluent's framing"
	case recordschema.CloudEvents:
		name += " in structured CloudEvents"
	}
	return name
}
