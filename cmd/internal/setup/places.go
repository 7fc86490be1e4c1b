package setup

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"oriel/schemas"
	"oriel/schemas/avro"
	"oriel/schemas/framing"
	"oriel/schemas/mapping"
	"oriel/schemas/protobuf"
)

// Limits of what is looked for in records.
const (
	mostPlaces = 300 // values
	mostNested = 6   // names of a path
)

// places are where values stand in records, and what reads them.
type places struct {
	paths []mapping.Path
	lists []mapping.Path // in which no value is looked for
	open  mapping.OpenSource
}

func (p *places) add(path mapping.Path, isList bool) {
	all := &p.paths
	if isList {
		all = &p.lists
	}
	same := func(other mapping.Path) bool { return slices.Equal(other, path) }
	if len(*all) < mostPlaces && !slices.ContainsFunc(*all, same) {
		*all = append(*all, slices.Clone(path))
	}
}

// places finds them: of JSON in the records, of other formats in the schema.
func (e Encoding) places(records [][]byte) (*places, error) {
	switch e.Format {
	case JSON:
		return placesOfJSON(records), nil
	case Avro:
		return e.placesOfAvro()
	case Protobuf:
		return e.placesOfProtobuf()
	}
	return nil, fmt.Errorf("ORIEL_FORMAT=%s: not one of json, avro, protobuf", e.Format)
}

func placesOfJSON(records [][]byte) *places {
	p := &places{open: mapping.JSON(schemas.UnknownIsFree)}
	for _, record := range records {
		d := json.NewDecoder(bytes.NewReader(record))
		d.UseNumber()
		p.walk(d, nil) // a record that is broken further on shows what stands before
	}
	inside := func(path mapping.Path) bool { // an object in some records, one value in others
		return slices.ContainsFunc(p.paths, func(o mapping.Path) bool {
			return len(o) > len(path) && slices.Equal(o[:len(path)], path)
		})
	}
	p.paths = slices.DeleteFunc(p.paths, inside)
	return p
}

// walk goes through a value; it reports false where the record ends or is broken.
func (p *places) walk(d *json.Decoder, at mapping.Path) bool {
	token, err := d.Token()
	if err != nil {
		return false
	}
	opening, isContainer := token.(json.Delim)
	switch {
	case !isContainer && len(at) > 0 && len(at) <= mostNested:
		p.add(at, false)
	case !isContainer:
	case opening == '[':
		if len(at) > 0 && len(at) <= mostNested {
			p.add(at, true)
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

// skip passes over the rest of a list.
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

// schema is what both languages of schemas say of their fields.
type schema interface {
	At(p mapping.Path) (mapping.Shape, []string)
	Names(p mapping.Path) []string
}

// fields goes through all fields below a path, in the order of the schema.
func (p *places) fields(s schema, at mapping.Path) {
	for _, name := range s.Names(at) {
		path := append(slices.Clone(at), name)
		switch shape, _ := s.At(path); {
		case shape == mapping.ScalarShape:
			if _, err := p.open([]mapping.Path{path}); err == nil { // bytes are no value
				p.add(path, false)
			}
		case shape == mapping.ListShape:
			p.add(path, true)
		case shape == mapping.RecordShape && len(path) < mostNested:
			p.fields(s, path)
		}
	}
}

func (e Encoding) placesOfAvro() (*places, error) {
	parse := func(v version) (*avro.Schema, error) {
		text, err := v.read(v.name)
		if err != nil {
			return nil, err
		}
		return avro.Parse(text, v.references...)
	}
	reader, err := parse(e.reader())
	if err != nil {
		return nil, err
	}
	p := &places{open: reader.Open}
	p.fields(reader, nil)
	return p, e.framed(p, nil, func(v version) (mapping.OpenSource, error) {
		other, err := parse(v)
		return func(paths []mapping.Path) (mapping.Source, error) { return other.OpenVersion(reader, paths) }, err
	})
}

func (e Encoding) placesOfProtobuf() (*places, error) {
	parse := func(v version) (*protobuf.Schema, error) { return protobuf.Read(v.name, e.Message, v.read) }
	reader, err := parse(e.reader())
	if err != nil {
		return nil, err
	}
	p := &places{open: reader.Open}
	p.fields(reader, nil)
	return p, e.framed(p, reader.Index(), func(v version) (mapping.OpenSource, error) {
		other, err := parse(v)
		if err != nil {
			return nil, err
		}
		return other.OpenVersion, nil
	})
}

// framed makes places read records in Confluent's framing, where that is the encoding.
func (e Encoding) framed(p *places, index []int, open func(version) (mapping.OpenSource, error)) error {
	if e.Framing != Confluent {
		return nil
	}
	var entries []framing.Entry
	var errs []error
	add := func(v version) {
		source, err := open(v)
		if err != nil {
			errs = append(errs, fmt.Errorf("schema id %d: %w", v.id, err))
		}
		entries = append(entries, framing.Entry{ID: v.id, Index: index, Open: source})
	}
	for i := range e.Schemas {
		add(inRegistry(&e.Schemas[i]))
	}
	for _, text := range e.IDs {
		number, file, other := strings.Cut(text, "=")
		id, err := strconv.ParseUint(strings.TrimSpace(number), 10, 32)
		switch {
		case err != nil:
			errs = append(errs, fmt.Errorf("--schema-ids: %q is neither an id nor an id, =, and a file", text))
		case other:
			add(inFile(uint32(id), file))
		default:
			entries = append(entries, framing.Entry{ID: uint32(id), Index: index, Open: p.open})
		}
	}
	if len(errs) > 0 {
		return errors.Join(errs...)
	}
	table, err := framing.NewTable(entries)
	if err == nil {
		p.open = table.Open
	}
	return err
}
