package settings

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"oriel/operators"
	"oriel/schemas"
	"oriel/schemas/avro"
	"oriel/schemas/framing"
	"oriel/schemas/mapping"
	"oriel/schemas/protobuf"
)

// The values of ORIEL_FORMAT and ORIEL_FRAMING.
const (
	jsonFormat     = "json"
	avroFormat     = "avro"
	protobufFormat = "protobuf"

	plainFraming = "plain"
	confluent    = "confluent"
	cloudEvents  = "cloudevents"
)

// recordSchema is a schema of records, whatever its language.
type recordSchema struct {
	digest  [sha256.Size]byte
	open    mapping.OpenSource
	layout  mapping.Layout
	message string // of Protobuf, else empty
	index   []int  // likewise nil
	version func(reader *recordSchema) mapping.OpenSource
	avro    *avro.Schema
}

// schemaID is an id that records name, and its schema.
type schemaID struct {
	id     uint32
	schema *recordSchema
	known  func(partition int32, offset int64) bool // framing.Entry.Known
}

// readRecords reads what says how records are encoded.
func (s *Settings) readRecords(p *operators.Problems) {
	p.OneOf("FORMAT", s.Format, jsonFormat, avroFormat, protobufFormat)
	if s.Framing != "" {
		p.OneOf("FRAMING", s.Framing, plainFraming, confluent, cloudEvents)
	}
	s.readRegistry(p)
	if s.Format != avroFormat && s.Format != protobufFormat {
		p.Want("SCHEMA_FILE", s.SchemaFile == "", "set, but records of JSON need no schema; ORIEL_FORMAT says which format they have")
		p.Want("SCHEMA_MESSAGE", s.SchemaMessage == "", "set, but only records of ORIEL_FORMAT=protobuf have a message type")
		p.Want("SCHEMA_IDS", len(s.SchemaIDs) == 0, "set, but JSON in Confluent's framing is read whatever id it has")
		return
	}
	p.Want("SCHEMA_MESSAGE", s.SchemaMessage == "" || s.Format == protobufFormat,
		"set, but only records of ORIEL_FORMAT=protobuf have a message type")
	p.Want("UNKNOWN", s.Unknown == "", "set, but a schema says which members there are; it is for ORIEL_FORMAT=json")
	p.Want("SCHEMA_IDS", len(s.SchemaIDs) == 0 || s.Framing == confluent,
		"set, but only records of ORIEL_FRAMING=confluent have ids")
	p.Want("SCHEMA_IDS", len(s.SchemaIDs) > 0 || s.Framing != confluent || s.fromRegistry(),
		"not set; with ORIEL_FRAMING=confluent it says which ids records may name, or ORIEL_SCHEMA_REGISTRY where they are looked up")
	if s.fromRegistry() && s.SchemaFile == "" {
		return
	}
	if s.SchemaFile == "" {
		p.Break("SCHEMA_FILE", "not set; records of ORIEL_FORMAT=%s are read by their schema", s.Format)
		return
	}
	var err error
	if s.schema, err = s.readSchema(s.SchemaFile); err != nil {
		p.Break("SCHEMA_FILE", "%w", err)
		return
	}
	for _, text := range s.SchemaIDs {
		s.readID(p, strings.TrimSpace(text))
	}
	slices.SortFunc(s.schemaIDs, func(a, b schemaID) int { return cmp.Compare(a.id, b.id) })
}

// readID reads an entry of ORIEL_SCHEMA_IDS: an id, or id=file.
func (s *Settings) readID(p *operators.Problems, text string) {
	number, file, other := strings.Cut(text, "=")
	id, err := strconv.ParseUint(number, 10, 32)
	if err != nil || other && file == "" {
		p.Break("SCHEMA_IDS", "%q: not an id from 0 to 4294967295, nor an id, =, and a file", text)
		return
	}
	schema := s.schema
	if other {
		if schema, err = s.readSchema(file); err != nil {
			p.Break("SCHEMA_IDS", "id %d: %w", id, err)
			return
		}
	}
	s.schemaIDs = append(s.schemaIDs, schemaID{id: uint32(id), schema: schema})
}

func (s *Settings) readSchema(file string) (*recordSchema, error) {
	return s.parseSchema(file, readFile)
}

// parseSchema reads a schema, and what it names by the references of a registry.
func (s *Settings) parseSchema(
	file string, readFile func(name string) ([]byte, error), references ...[]byte,
) (*recordSchema, error) {
	if s.Format == avroFormat {
		text, err := readFile(file)
		if err != nil {
			return nil, err
		}
		read, err := avro.Parse(text, references...)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
		return &recordSchema{
			digest: sha256.Sum256(text), open: read.Open, layout: read.At, avro: read,
			version: func(reader *recordSchema) mapping.OpenSource {
				return func(paths []mapping.Path) (mapping.Source, error) { return read.OpenVersion(reader.avro, paths) }
			},
		}, nil
	}
	read, err := protobuf.Read(file, s.SchemaMessage, readFile)
	if err != nil {
		return nil, err
	}
	h := sha256.New()
	for _, f := range read.Files() {
		fmt.Fprintf(h, "%d %d %s", len(f.Name), len(f.Content), f.Name)
		h.Write(f.Content)
	}
	return &recordSchema{
		digest: [sha256.Size]byte(h.Sum(nil)), open: read.Open, layout: read.At, message: read.Name(), index: read.Index(),
		version: func(*recordSchema) mapping.OpenSource { return read.OpenVersion },
	}, nil
}

// canonicalRecords are the lines of the configuration about the encoding of records; FORMAT has one of its own.
func (s Settings) canonicalRecords() []string {
	var lines []string
	if s.framed() {
		lines = append(lines, "FRAMING="+s.Framing)
	}
	if s.fromRegistry() {
		lines = append(lines, "SCHEMA_SUBJECT="+s.Subject())
		if s.schema == nil && s.SchemaMessage != "" {
			lines = append(lines, "SCHEMA_MESSAGE="+s.SchemaMessage)
		}
	}
	if s.schema == nil {
		return lines
	}
	lines = append(lines, fmt.Sprintf("SCHEMA=sha256:%x", s.schema.digest))
	if s.schema.message != "" {
		lines = append(lines, "SCHEMA_MESSAGE="+s.schema.message)
	}
	if len(s.schemaIDs) > 0 {
		var ids []string
		for _, known := range s.schemaIDs {
			ids = append(ids, fmt.Sprintf("%d=sha256:%x", known.id, known.schema.digest))
		}
		lines = append(lines, "SCHEMA_IDS="+strings.Join(ids, ","))
	}
	return lines
}

func (s Settings) framed() bool { return s.Framing != "" && s.Framing != plainFraming }

// IsText says whether each record is a JSON text with nothing around it: a line of a file may be one.
func (s Settings) IsText() bool { return s.Format == jsonFormat && !s.framed() }

// Lines are the same settings for lines of a file, which are JSON whatever records of the topic are: their members are
// those that the mapping names in the schema.
func (s Settings) Lines() Settings {
	s.lines = true
	return s
}

// foreign is schemas.EventConfig.Foreign: it opens decoders of records that are not JSON in the own form.
func (s Settings) foreign(c schemas.EventConfig) (func(schemas.EventConfig) (schemas.EventDecoder, error), error) {
	m, open := s.mapping, mapping.JSON(c.Unknown)
	if m != nil {
		if _, err := m.Compile(c); err != nil {
			return nil, mapping.Prefixed(prefix+"MAP", err)
		}
	}
	switch {
	case s.lines && m == nil:
		return nil, nil
	case s.lines:
		return m.Opener(open), nil
	}
	switch {
	case s.fromRegistry(): // until schemas are frozen, or where none are needed: as by Writers
		return s.byRegistry(nil), nil
	case s.schema != nil:
		var err error
		if m, open, err = s.bySchema(c, s.schema, s.schemaIDs); err != nil {
			return nil, err
		}
	}
	decoder := func(c schemas.EventConfig) (schemas.EventDecoder, error) { return schemas.NewDecoder(c) }
	if m != nil {
		decoder = m.Opener(open)
	}
	switch {
	case s.Framing == cloudEvents:
		return framing.CloudEvents(decoder, s.schema != nil), nil
	case s.Framing == confluent && s.schema == nil:
		return framing.ConfluentJSON(decoder), nil
	case m == nil:
		return nil, nil
	}
	return decoder, nil
}

// bySchema is the mapping of records of a schema, and what opens their sources. Without a mapping of its own the schema
// has the members of the operator's events.
func (s Settings) bySchema(
	c schemas.EventConfig, reader *recordSchema, ids []schemaID,
) (*mapping.Mapping, mapping.OpenSource, error) {
	file, versions := "SCHEMA_FILE", "SCHEMA_IDS" // the settings that name schemas
	if s.fromRegistry() {
		versions = "SCHEMA_SUBJECT"
	}
	if s.schema == nil {
		file = "SCHEMA_SUBJECT"
	}
	m, named := s.mapping, "MAP"
	if m == nil {
		m, named = mapping.OwnForm(c.Body, reader.layout), file
	}
	plan, err := m.Compile(c)
	if err != nil {
		return nil, nil, mapping.Prefixed(prefix+file+": without ORIEL_MAP the schema has the members of events", err)
	}
	if _, err := reader.open(plan.Paths()); err != nil {
		return nil, nil, mapping.Prefixed(prefix+named, err)
	}
	open := reader.open
	if s.Framing == confluent {
		var entries []framing.Entry
		for _, id := range ids {
			e := framing.Entry{ID: id.id, Index: id.schema.index, Open: id.schema.version(reader), Known: id.known}
			if id.schema == reader {
				e.Open = reader.open
			}
			entries = append(entries, e)
		}
		table, err := framing.NewTable(entries)
		if err != nil {
			return nil, nil, fmt.Errorf("%s%s: %w", prefix, versions, err)
		}
		if _, err := table.Open(plan.Paths()); err != nil {
			return nil, nil, fmt.Errorf("%s%s: %w", prefix, versions, err)
		}
		open = table.Open
	}
	return m, open, nil
}
