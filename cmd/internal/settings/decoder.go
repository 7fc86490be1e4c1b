package settings

import (
	"strings"

	"oriel/cmd/internal/registry"
	"oriel/operators"
	"oriel/schemas/event"
	"oriel/state"
)

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
		for _, setting := range definition.Settings {
			if !setting.Decodes {
				continue
			}
			if (setting.Kind == operators.List || setting.Kind == operators.File) && given[setting.Name] != "" {
				return nil, false
			}
			names = append(names, setting.Name)
		}
	}
	for _, name := range names {
		if value, ok := given[name]; ok {
			environ = append(environ, prefix+name+"="+value)
		}
	}
	return environ, true
}
