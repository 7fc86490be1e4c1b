package event

import (
	"math"
	"strconv"
	"strings"

	"oriel/schemas/text"
)

// Schema returns the JSON Schema (draft 2020-12) of events with a valid body. It cannot express some rules: the
// dimension, duplicate names, the notation of a number. Only the JSONDecoder checks them.
func Schema(b Body) []byte {
	var s schemaText
	s.line(0, `{`)
	s.line(1, `"$schema": "https://json-schema.org/draft/2020-12/schema",`)
	s.line(1, `"$id": "urn:oriel:schemas:v1:event-`, b.Name, `",`)
	s.line(1, `"title": "`, title(b.Name), ` event",`)
	if b.Text != "" {
		s.line(1, `"description": `, text.Quote(b.Text), `,`)
	}
	s.line(1, `"type": "object",`)
	s.line(1, `"properties": {`)
	var required, either []string
	for i, m := range b.Members {
		names := m.names()
		for k, name := range names {
			s.line(2, text.Quote(name), `: `, m.schema(), comma(i+1 < len(b.Members) || k+1 < len(names)))
		}
		switch {
		case m.Also == "" && !m.Optional:
			required = append(required, text.Quote(m.Name))
		case m.Also != "" && !m.Optional:
			either = append(either, `"oneOf": [{ "required": [`+text.Quote(m.Name)+`] }, { "required": [`+text.Quote(m.Also)+`] }]`)
		case m.Also != "":
			either = append(either, `"not": { "required": [`+text.Quote(m.Name)+`, `+text.Quote(m.Also)+`] }`)
		}
	}
	s.line(1, `},`)
	if len(required) > 0 {
		s.line(1, `"required": [`, strings.Join(required, ", "), `],`)
	}
	switch len(either) {
	case 0:
	case 1:
		s.line(1, either[0], `,`)
	default:
		s.line(1, `"allOf": [{ `, strings.Join(either, ` }, { `), ` }],`)
	}
	vector, _ := b.Vector()
	defs := schemaDefs(vector.Kind)
	s.line(1, `"additionalProperties": false`, comma(defs != ""))
	s.WriteString(defs)
	s.line(0, `}`)
	return []byte(s.String())
}

// schemaText is a JSON Schema under construction.
type schemaText struct{ strings.Builder }

func (s *schemaText) line(indent int, parts ...string) {
	s.WriteString(strings.Repeat("  ", indent))
	for _, part := range parts {
		s.WriteString(part)
	}
	s.WriteByte('\n')
}

func comma(more bool) string {
	if more {
		return ","
	}
	return ""
}

// title returns a name as words, with a capital in front.
func title(name string) string {
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "_", " ")
}

func (m Member) names() []string {
	if m.Also == "" {
		return []string{m.Name}
	}
	return []string{m.Name, m.Also}
}

// schema returns the JSON Schema of the member's value.
func (m Member) schema() string {
	if m.Kind == KindRelatives {
		return m.relatives()
	}
	parts := []string{m.typeSchema()}
	if m.Text != "" {
		parts = append([]string{`"description": ` + text.Quote(m.Text)}, parts...)
	}
	if m.Kind == KindWeight {
		parts = append(parts, `"minimum": 0`)
	}
	if least, most, bounded := m.Bounds(); bounded {
		parts = append(parts, `"minimum": `+decimal(least), `"maximum": `+decimal(most))
	}
	if text, some := m.defaultSchema(); some {
		parts = append(parts, `"default": `+text)
	}
	return `{ ` + strings.Join(parts, ", ") + ` }`
}

func (m Member) typeSchema() string {
	switch m.Kind {
	case KindVector:
		return `"$ref": "#/$defs/vector"`
	case KindFeatures:
		return `"oneOf": [{ "$ref": "#/$defs/dense" }, { "$ref": "#/$defs/sparse" }, { "$ref": "#/$defs/named" }]`
	case KindClass:
		return `"type": ["number", "boolean"]`
	case KindCount:
		return `"type": "integer"`
	case KindChoice:
		var choices []string
		for _, s := range m.Choices {
			choices = append(choices, text.Quote(s))
		}
		if m.Open {
			return `"type": "string", "examples": [` + strings.Join(choices, ", ") + `]`
		}
		return `"enum": [` + strings.Join(choices, ", ") + `]`
	case KindName:
		return `"type": "string", "minLength": 1`
	default:
		return `"type": "number"`
	}
}

// Bounds returns the bounds that a number or count must keep: the configured ones, or those of its kind.
func (m Member) Bounds() (least, most float64, bounded bool) {
	switch {
	case m.Least != 0 || m.Most != 0:
		return m.Least, m.Most, true
	case m.Kind == KindCount:
		return -MaxCount, MaxCount, true
	}
	return 0, 0, false
}

// defaultSchema returns the default of an optional member, if an event could contain this value.
func (m Member) defaultSchema() (s string, some bool) {
	least, most, bounded := m.Bounds()
	switch {
	case !m.Optional || m.Kind.isVector() || m.Kind == KindName || m.Kind.isLabel() && m.Default == 0:
		return "", false
	case m.Kind == KindChoice && m.Default >= 0:
		return text.Quote(m.Choices[int(m.Default)]), true
	case m.Kind == KindChoice || bounded && (m.Default < least || m.Default > most):
		return "", false
	case m.Kind == KindCount && !isCount(m.Default), math.Abs(m.Default) == math.MaxFloat64: // MaxFloat64 marks absence
		return "", false
	}
	return decimal(m.Default), true
}

func decimal(f float64) string {
	if isCount(f) {
		return strconv.FormatInt(int64(f), 10)
	}
	return string(text.AppendFloat(nil, f))
}

func (m Member) relatives() string {
	s := "{\n"
	if m.Text != "" {
		s += `      "description": ` + text.Quote(m.Text) + ",\n"
	}
	return s + `      "type": "array",
      "items": { "type": "number", "minimum": 0 },
      "contains": { "exclusiveMinimum": 0 },
      "minItems": 1
    }`
}

// schemaDefs returns the definitions of the forms of a vector.
func schemaDefs(kind Kind) string {
	switch kind {
	case KindVector:
		forms := schemaDense + ",\n" + schemaSparse
		return "  \"$defs\": {\n    \"vector\": {\n      \"oneOf\": [\n" +
			indented(forms, "        ") + "\n      ]\n    }\n  }\n"
	case KindFeatures:
		forms := `"dense": ` + schemaDense + ",\n" + `"sparse": ` + schemaSparse + ",\n" + `"named": ` + schemaNamed
		return "  \"$defs\": {\n" + indented(forms, "    ") + "\n  }\n"
	default:
		return ""
	}
}

func indented(text, by string) string { return by + strings.ReplaceAll(text, "\n", "\n"+by) }

const (
	schemaDense = `{
  "description": "One number for each coordinate.",
  "type": "array",
  "items": { "type": "number" },
  "minItems": 1
}`
	schemaSparse = `{
  "description": "The coordinates that are not zero: distinct indices from 0, and as many values.",
  "type": "object",
  "properties": {
    "indices": { "type": "array", "items": { "type": "integer", "minimum": 0 }, "uniqueItems": true },
    "values": { "type": "array", "items": { "type": "number" } }
  },
  "required": ["indices", "values"],
  "additionalProperties": false
}`
	schemaNamed = `{
  "description": "Features by name, hashed to coordinates: a number by its name, a string by name and text, true as 1, false as nothing.",
  "type": "object",
  "additionalProperties": { "type": ["number", "string", "boolean"] },
  "maxProperties": 4096
}`
)
