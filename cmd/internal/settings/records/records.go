package records

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"oriel/cmd/internal/recordschema"
	"oriel/cmd/internal/settings/files"
	"oriel/operators/setting"
	"oriel/schemas/event"
	"oriel/schemas/framing"
	"oriel/schemas/mapping"
)

// Records has the settings of records and decisions.
type Records struct {
	Format, Framing, SchemaFile, SchemaMessage        string
	SchemaIDs                                         []string
	SchemaRegistry, SchemaSubject, SchemaRegistryUser string
	SchemaRegistryPasswordFile, SchemaRegistryCAFile  string
	DecisionsFormat                                   string
	DecisionsSchemaID                                 uint64
	NamesID                                           bool // ORIEL_DECISIONS_SCHEMA_ID is set
	MaxRecordBytes                                    int
	Map, Unknown                                      string
	FeaturesBias                                      bool
	FeaturesNorm, FeaturesRange                       string

	topic     string               // the input topic
	schema    *recordschema.Schema // nil: records are JSON
	schemaIDs []schemaID           // schema ids of Confluent's framing
	lines     bool                 // events are lines of JSON instead of records
	mapping   *mapping.Mapping     // nil: events have the operator's own form
	mapText   string               // document of ORIEL_MAP without white space around it; "": none
	mapDigest [sha256.Size]byte
	decoding  event.Config // with the groups Events and Operator
}

// schemaID is an id that records may name, and the schema that it stands for.
type schemaID struct {
	id     uint32
	schema *recordschema.Schema
	known  func(partition int32, offset int64) bool // see framing.Entry.Known
}

// Read reads the files that the settings name, and refuses settings that do not go together. topic is the input topic.
func (s *Records) Read(p *setting.Problems, topic string) {
	s.topic = topic
	s.readRegistry(p)
	p.Want("SCHEMA_MESSAGE", s.SchemaMessage == "" || s.Format == recordschema.Protobuf,
		"set, but only records of ORIEL_FORMAT=protobuf have a message type")
	if s.Format != recordschema.Avro && s.Format != recordschema.Protobuf {
		p.Want("SCHEMA_FILE", s.SchemaFile == "", "set, but records of JSON need no schema; ORIEL_FORMAT says which format they have")
		p.Want("SCHEMA_IDS", len(s.SchemaIDs) == 0, "set, but JSON in Confluent's framing is read whatever id it has")
		return
	}
	p.Want("UNKNOWN", s.Unknown == "", "set, but a schema says which members records have; this setting is for ORIEL_FORMAT=json")
	p.Want("SCHEMA_IDS", len(s.SchemaIDs) == 0 || s.Framing == recordschema.Confluent,
		"set, but only records of ORIEL_FRAMING=confluent have ids")
	p.Want("SCHEMA_IDS", len(s.SchemaIDs) > 0 || s.Framing != recordschema.Confluent || s.fromRegistry(),
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
		s.readID(p, text)
	}
	slices.SortFunc(s.schemaIDs, func(a, b schemaID) int { return cmp.Compare(a.id, b.id) })
}

// readID reads an entry of ORIEL_SCHEMA_IDS.
func (s *Records) readID(p *setting.Problems, text string) {
	id, file, err := recordschema.ParseID(text)
	if err != nil {
		p.Break("SCHEMA_IDS", "%w", err)
		return
	}
	schema := s.schema
	if file != "" {
		if schema, err = s.readSchema(file); err != nil {
			p.Break("SCHEMA_IDS", "id %d: %w", id, err)
			return
		}
	}
	s.schemaIDs = append(s.schemaIDs, schemaID{id: id, schema: schema})
}

func (s *Records) readSchema(file string) (*recordschema.Schema, error) {
	return recordschema.Files{Name: file, Read: files.Read}.Schema(s.Format, s.SchemaMessage)
}

// Framed reports whether events are framed in records.
func (s Records) Framed() bool { return s.Framing != "" && s.Framing != recordschema.Plain }

// OfLines returns the same settings for the lines of a file. Lines are JSON, also if the topic's records are not: their
// members have the names that the mapping uses for the schema's fields.
func (s Records) OfLines() Records {
	s.lines, s.decoding.Foreign = true, nil
	if s.mapping != nil {
		s.decoding.Foreign = s.mapping.Opener(mapping.JSON(s.decoding.Unknown))
	}
	return s
}

// foreign returns event.Config.Foreign: a function that opens decoders of records that are not JSON in the
// operator's own form. It is nil if there are none.
func (s Records) foreign(c event.Config) (func(event.Config) (event.Decoder, error), error) {
	m, open := s.mapping, mapping.JSON(c.Unknown)
	if m != nil {
		if _, err := m.Compile(c); err != nil {
			return nil, mapping.Prefixed(setting.Prefix+"MAP", err)
		}
	}
	switch {
	case s.fromRegistry(): // no schema is frozen yet, or the caller supplies them, as Writers does
		return s.byRegistry(nil), nil
	case s.schema != nil:
		var err error
		if m, open, err = s.bySchema(c, s.schema, s.schemaIDs); err != nil {
			return nil, err
		}
	}
	decoder := func(c event.Config) (event.Decoder, error) { return event.NewJSONDecoder(c) }
	if m != nil {
		decoder = m.Opener(open)
	}
	switch {
	case s.Framing == recordschema.CloudEvents:
		return framing.CloudEvents(decoder, s.schema != nil), nil
	case s.Framing == recordschema.Confluent && s.schema == nil:
		return framing.ConfluentJSON(decoder), nil
	case m == nil:
		return nil, nil
	}
	return decoder, nil
}

// readable returns an error if no record of a schema can be an event.
func readable(plan *mapping.Plan, open mapping.OpenSource) error {
	source, err := open(plan.Paths())
	if err != nil {
		return plan.Locate(err)
	}
	return plan.Readable(source.(mapping.Typed).Kinds())
}

// bySchema returns the mapping for records of a schema, and a function that opens the mapping's sources. If no mapping
// is set, the schema must have the members of the operator's events.
func (s Records) bySchema(
	c event.Config, reader *recordschema.Schema, ids []schemaID,
) (*mapping.Mapping, mapping.OpenSource, error) {
	file, versions := "SCHEMA_FILE", "SCHEMA_IDS" // names of the settings that name schemas
	if s.fromRegistry() {
		versions = "SCHEMA_SUBJECT"
	}
	if s.schema == nil {
		file = "SCHEMA_SUBJECT"
	}
	m, named := s.mapping, "MAP"
	if m == nil {
		m, named = mapping.OwnForm(c.Body, reader.At), file
	}
	plan, err := m.Compile(c)
	if err != nil {
		const own = ": without ORIEL_MAP the schema has the members of events"
		return nil, nil, mapping.Prefixed(setting.Prefix+file+own, err)
	}
	open := reader.OpenAs(reader)
	if _, err := open(plan.Paths()); err != nil {
		return nil, nil, mapping.Prefixed(setting.Prefix+named, plan.Locate(err))
	}
	if s.Framing == recordschema.Confluent {
		var entries []framing.Entry
		for _, id := range ids {
			e := id.schema.Entry(id.id, reader)
			e.Known = id.known
			entries = append(entries, e)
		}
		table, err := framing.NewTable(entries)
		if err != nil {
			return nil, nil, fmt.Errorf("%s%s: %w", setting.Prefix, versions, err)
		}
		for _, e := range entries {
			if err := readable(plan, e.Open); err != nil {
				return nil, nil, mapping.Prefixed(fmt.Sprintf("%s%s: schema id %d", setting.Prefix, versions, e.ID), err)
			}
		}
		open = table.Open
	}
	return m, open, nil
}
