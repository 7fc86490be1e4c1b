package sample

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"

	"oriel/cmd/internal/recordschema"
	"oriel/schemas/event"
	"oriel/schemas/framing"
	"oriel/schemas/mapping"
	"oriel/schemas/text"
)

// Limits of the search for columns in records.
const (
	mostPlaces = 300 // largest number of places that are found
	mostNested = 6   // largest number of names in a path
)

// Places lists the places of values in records. It also has the decoder that reads them.
type Places struct {
	Paths  []mapping.Path
	Lists  []mapping.Path // paths of lists, in which the search does not look for places
	Others []mapping.Path // paths of maps, whose keys no schema has, and of bytes
	open   mapping.OpenSource
	isJSON bool
}

// Reading is the number of records that could be read, and the first fault of the others.
type Reading struct {
	Readable int
	Fault    string
}

// Read calls see with the values of each record that can be read, in the order of Paths.
func (p *Places) Read(records [][]byte, see func(values []mapping.Value)) (read Reading, err error) {
	source, err := p.open(p.Paths)
	if err != nil {
		return read, err
	}
	values := make([]mapping.Value, len(p.Paths))
	for k, record := range records {
		code := source.Fill(values, record)
		switch {
		case code == text.OK:
			read.Readable++
			see(values)
		case read.Fault == "" && p.isJSON:
			read.Fault = fmt.Sprintf("record %d: %s: %s", k+1, code, code.RuleAt(record))
		case read.Fault == "":
			read.Fault = fmt.Sprintf("record %d: %s: %s", k+1, code, code.Rule())
		}
	}
	return read, nil
}

func (p *Places) add(all *[]mapping.Path, path mapping.Path) {
	same := func(other mapping.Path) bool { return slices.Equal(other, path) }
	if len(*all) < mostPlaces && !slices.ContainsFunc(*all, same) {
		*all = append(*all, slices.Clone(path))
	}
}

// Places finds the places of values: for JSON in the records, for other formats in the schema.
func (e Encoding) Places(records [][]byte) (*Places, error) {
	switch e.Format {
	case recordschema.JSON:
		return placesOfJSON(records), nil
	case recordschema.Avro, recordschema.Protobuf:
		return e.placesOfSchema()
	}
	return nil, fmt.Errorf("ORIEL_FORMAT=%s: not one of json, avro, protobuf", e.Format)
}

func placesOfJSON(records [][]byte) *Places {
	p := &Places{open: mapping.JSON(event.UnknownIsFree), isJSON: true}
	for _, record := range records {
		d := json.NewDecoder(bytes.NewReader(record))
		d.UseNumber()
		p.walk(d, nil) // a broken record still shows the values before the fault
	}
	return p
}

// walk visits a JSON value and its members. It returns false if the record ends early or is malformed.
func (p *Places) walk(d *json.Decoder, at mapping.Path) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	opening, isContainer := token.(json.Delim)
	switch {
	case !isContainer && len(at) > 0 && len(at) <= mostNested:
		p.add(&p.Paths, at)
	case !isContainer:
	case opening == '[':
		if len(at) > 0 && len(at) <= mostNested {
			p.add(&p.Lists, at)
		}
		return skip(d)
	default:
		for d.More() {
			name, err := d.Token()
			if err != nil || !p.walk(d, append(at, name.(string))) {
				return false
			}
		}
		_, err := d.Token()
		return err == nil
	}
	return true
}

// skip reads past the rest of a list.
func skip(d *json.Decoder) bool {
	for depth := 1; depth > 0; {
		token, err := d.Token()
		if err != nil {
			return false
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
	}
	return true
}

// fields adds all fields below a path, in the order of the schema.
func (p *Places) fields(s *recordschema.Schema, at mapping.Path) {
	for _, name := range s.Names(at) {
		path := append(slices.Clone(at), name)
		shape, _ := s.At(path)
		if _, err := p.open([]mapping.Path{path}); err == nil { // some value can be one of an event: bytes cannot
			p.add(&p.Paths, path)
		} else if shape == mapping.ListShape {
			p.add(&p.Lists, path)
		} else if len(s.Names(path)) == 0 {
			p.add(&p.Others, path)
		}
		if len(path) < mostNested {
			p.fields(s, path)
		}
	}
}

// placesOfSchema finds the places in the schema, and opens a decoder of records that were written with any version of
// the schema.
func (e Encoding) placesOfSchema() (*Places, error) {
	reader, err := e.reader().Schema(e.Format, e.Message)
	if err != nil {
		return nil, err
	}
	p := &Places{open: reader.Open}
	p.fields(reader, nil)
	if e.Framing == recordschema.Confluent {
		table, err := e.table(reader)
		if err != nil {
			return nil, err
		}
		p.open = table.Open
	}
	return p, nil
}

// table returns the schemas of records in Confluent's framing, by id.
func (e Encoding) table(reader *recordschema.Schema) (*framing.Table, error) {
	var entries []framing.Entry
	var errs []error
	add := func(id uint32, files recordschema.Files) {
		schema, err := files.Schema(e.Format, e.Message)
		if err != nil {
			errs = append(errs, err)
			return
		}
		entries = append(entries, schema.Entry(id, reader))
	}
	for i := range e.Schemas {
		add(e.Schemas[i].ID, recordschema.InRegistry(&e.Schemas[i]))
	}
	for _, text := range e.IDs {
		switch id, file, err := recordschema.ParseID(text); {
		case err != nil:
			errs = append(errs, fmt.Errorf("--schema-ids: %w", err))
		case file != "":
			add(id, inFile(file))
		default:
			entries = append(entries, reader.Entry(id, reader))
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return framing.NewTable(entries)
}

// reader returns the version of the schema whose field names a mapping uses.
func (e Encoding) reader() recordschema.Files {
	if n := len(e.Schemas); n > 0 {
		return recordschema.InRegistry(&e.Schemas[n-1])
	}
	return inFile(e.SchemaFile)
}

func inFile(name string) recordschema.Files { return recordschema.Files{Name: name, Read: os.ReadFile} }
