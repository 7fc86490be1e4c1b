package records

import (
	"fmt"

	"oriel/cmd/internal/recordschema"
	"oriel/cmd/internal/schemaregistry"
	"oriel/cmd/internal/settings/files"
	"oriel/operators/setting"
	"oriel/schemas/event"
	"oriel/schemas/text"
	"oriel/state"
)

// fromRegistry reports whether records name schemas of a registry.
func (s Records) fromRegistry() bool {
	return s.SchemaRegistry != "" && s.namesSchemas() && len(s.SchemaIDs) == 0
}

// namesSchemas reports whether records name schemas by their ids.
func (s Records) namesSchemas() bool {
	return s.Framing == recordschema.Confluent && s.Format != recordschema.JSON
}

// Subject returns the registry's subject under which the schemas of the records are registered.
func (s Records) Subject() string {
	if s.SchemaSubject == "" {
		return s.topic + "-value"
	}
	return s.SchemaSubject
}

// readRegistry reads and checks the settings of the schema registry.
func (s *Records) readRegistry(p *setting.Problems) {
	beside := func(name string, set bool) {
		p.Want(name, !set || s.SchemaRegistry != "", "set without ORIEL_SCHEMA_REGISTRY")
	}
	beside("SCHEMA_SUBJECT", s.SchemaSubject != "")
	beside("SCHEMA_REGISTRY_USER", s.SchemaRegistryUser != "")
	beside("SCHEMA_REGISTRY_CA_FILE", s.SchemaRegistryCAFile != "")
	p.Want("SCHEMA_REGISTRY_PASSWORD_FILE", (s.SchemaRegistryPasswordFile != "") == (s.SchemaRegistryUser != ""),
		"set without the other: ORIEL_SCHEMA_REGISTRY_USER and this setting need each other")
	if s.SchemaRegistry == "" {
		return
	}
	if s.RegistersDecisions() {
		p.Want("SCHEMA_SUBJECT", s.SchemaSubject == "" || s.fromRegistry(),
			"set, but ORIEL_SCHEMA_REGISTRY gets the schema of decisions alone: records have no schema of it")
		return
	}
	p.Want("SCHEMA_REGISTRY", s.namesSchemas(),
		"set, but only records of ORIEL_FRAMING=confluent and ORIEL_FORMAT=avro or protobuf name schemas, and only "+
			"decisions of ORIEL_DECISIONS_FORMAT=avro or protobuf without ORIEL_DECISIONS_SCHEMA_ID")
	p.Want("SCHEMA_IDS", len(s.SchemaIDs) == 0, "set, but ORIEL_SCHEMA_REGISTRY says which ids there are")
}

// Writers returns streams.Model.Writers. It is nil if records name no schemas of a registry.
func (s Records) Writers() func(state.Schemas) func(event.Config) (event.Decoder, error) {
	if !s.fromRegistry() || s.lines {
		return nil
	}
	return s.byRegistry
}

// Registry returns the address and the credentials of the schema registry. It reads the secret files that the settings
// name.
func (s Records) Registry() (schemaregistry.Config, error) {
	c := schemaregistry.Config{URL: s.SchemaRegistry, User: s.SchemaRegistryUser}
	var err error
	if c.Authorities, err = files.Authorities("ORIEL_SCHEMA_REGISTRY_CA_FILE", s.SchemaRegistryCAFile); err != nil {
		return c, err
	}
	if s.SchemaRegistryUser != "" {
		if c.Password, err = files.Password(s.SchemaRegistryPasswordFile); err != nil {
			return c, fmt.Errorf("ORIEL_SCHEMA_REGISTRY_PASSWORD_FILE: %w", err)
		}
	}
	return c, nil
}

// byRegistry returns a function that opens decoders of records that name frozen schemas. The reader's schema is
// ORIEL_SCHEMA_FILE, or else the last of the schemas that are known from the first record on. So the reader's schema is
// frozen as well.
func (s Records) byRegistry(frozen state.Schemas) func(event.Config) (event.Decoder, error) {
	return func(c event.Config) (event.Decoder, error) {
		reader := s.schema
		var ids []schemaID
		frozen := frozen.Read()
		for i := range frozen {
			f := &frozen[i]
			schema, err := recordschema.InRegistry(f).Schema(s.Format, s.SchemaMessage)
			if err != nil {
				return nil, &SchemaError{err}
			}
			if f.Since == nil && s.schema == nil {
				reader = schema
			}
			ids = append(ids, schemaID{f.ID, schema, f.Known})
		}
		if reader == nil {
			return withoutSchemas{}, nil
		}
		m, open, err := s.bySchema(c, reader, ids)
		if err != nil {
			return nil, err
		}
		return m.Opener(open)(c)
	}
}

// SchemaError is the error for a frozen schema that cannot be read, whatever the mapping.
type SchemaError struct{ Cause error }

// Error implements error.
func (e *SchemaError) Error() string { return e.Cause.Error() }

// withoutSchemas is the decoder before any schema is frozen: it decodes no record.
type withoutSchemas struct{}

// Decode implements event.Decoder.
func (withoutSchemas) Decode(*event.Event, []byte) text.Code { return text.UnknownSchema }

// Problem implements event.Decoder.
func (withoutSchemas) Problem(_ []byte, code text.Code) string { return code.Rule() }
