package settings

import (
	"strconv"
	"strings"

	"oriel/cmd/internal/registry"
	"oriel/operators/setting"
	"oriel/schemas/event"
	"oriel/state"
)

// WithSchemaID returns the settings with the id of the decisions' schema set.
func (s Settings) WithSchemaID(id uint32) Settings {
	s.DecisionsSchemaID, s.NamesID = uint64(id), true
	return s
}

// Opened returns the settings with the id of the decisions' schema that a deployment froze in its configuration when it
// was opened, unless the settings name one.
func (s Settings) Opened(config string) Settings {
	if !s.FreezesSchemaID() || !s.DecidesAs(config) {
		return s
	}
	// ParseUint returns 0 if the configuration has no such entry
	id, _ := strconv.ParseUint(state.ConfigValue(config, "DECISIONS_SCHEMA_ID"), 10, 31)
	return s.WithSchemaID(uint32(id))
}

// Lines returns the same settings for the lines of a file. Lines are JSON, also if the topic's records are not: their
// members have the names that the mapping uses for the schema's fields.
func (s Settings) Lines() Settings {
	s.Records = s.OfLines()
	return s
}

// DecoderOf returns a decoder that explains what is wrong with an event. config is the canonical configuration of the
// event's deployment, which has only digests of lists and files. So if decoding needs a list or a file (for example the
// columns of aggregate, a mapping or a schema), the environment must have the deployment's settings. The decoder is nil
// if these settings are missing. frozen reads the registry's schemas that are frozen for the stream.
func DecoderOf(config string, environ []string, frozen func() (state.Schemas, error)) event.Decoder {
	s, err := Load(environ, Events, Operator)
	if err == nil {
		s = s.Opened(config)
	}
	if err != nil || s.Canonical() != config {
		decoding, ok := decodingOf(config)
		if !ok {
			return nil
		}
		if s, err = Load(decoding, Events); err != nil {
			return nil
		}
	}
	c := s.EventConfig()
	if writers := s.Writers(); writers != nil {
		known, err := frozen()
		if err != nil {
			return nil
		}
		c.Foreign = writers(known)
	}
	d, err := event.OpenDecoder(c)
	if err != nil {
		return nil
	}
	return d
}

// decodingOf returns the settings that decode events, as an environment. It returns false if one of these settings is a
// list, a file, a mapping or a schema, of which the configuration has only a digest.
func decodingOf(config string) (environ []string, ok bool) {
	given := map[string]string{}
	for line := range strings.Lines(config) {
		if name, value, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "="); ok {
			given[name] = value
		}
	}
	var names []string
	for _, r := range new(Settings).rows() {
		if r.decodes {
			names = append(names, r.name)
		}
	}
	if given["MAP"] != "" || given["SCHEMA"] != "" || given["SCHEMA_SUBJECT"] != "" {
		return nil, false
	}
	if definition, ok := registry.All.Find(given["OPERATOR"]); ok {
		for _, s := range definition.Settings {
			if !s.Decodes {
				continue
			}
			if (s.Kind == setting.List || s.Kind == setting.File) && given[s.Name] != "" {
				return nil, false
			}
			names = append(names, s.Name)
		}
	}
	for _, name := range names {
		if value, ok := given[name]; ok {
			environ = append(environ, prefix+name+"="+value)
		}
	}
	return environ, true
}
