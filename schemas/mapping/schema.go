package mapping

import (
	"encoding/json"
	"slices"
	"strings"

	"oriel/schemas"
)

// Schema is the JSON Schema (draft 2020-12) of records that the plan reads, as JSON has them: what stands at each path,
// and what it becomes. It describes the shape; where a text must be a number or a time, only a Decoder checks that.
func (p *Plan) Schema() []byte {
	root := newShape()
	for i := range p.where {
		where := &p.where[i]
		leaf := root.at(p.paths[where.at], false)
		leaf.say("where: " + where.Operator + " " + where.Constant)
	}
	for i := range p.targets {
		if t := &p.targets[i]; t.at >= 0 && !t.beyond {
			leaf := root.at(p.paths[t.at], !t.optional)
			leaf.say(p.name(t))
			leaf.types = t.types(leaf.types)
		}
	}
	schema := root.schema(p.config.Unknown == schemas.UnknownIsNull)
	schema["$schema"], schema["type"] = "https://json-schema.org/draft/2020-12/schema", "object"
	schema["title"] = "Record that ORIEL_MAP reads as an event" + p.of()
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic("BUG: mapping: a schema that cannot be printed: " + err.Error())
	}
	return append(text, '\n')
}

// shape is what stands at a place of a record.
type shape struct {
	names    []string // of its members, or places of a list, in the order of the mapping
	members  []*shape
	required []string
	texts    []string // what it becomes
	types    []string // of JSON that a target can read; nil: any
}

func newShape() *shape { return &shape{} }

// at finds or makes the place of a path; required says that no record lacks it.
func (s *shape) at(p Path, required bool) *shape {
	for _, name := range p {
		k := slices.Index(s.names, name)
		if k < 0 {
			k = len(s.names)
			s.names, s.members = append(s.names, name), append(s.members, newShape())
		}
		if required && !slices.Contains(s.required, name) {
			s.required = append(s.required, name)
		}
		s = s.members[k]
	}
	return s
}

func (s *shape) say(text string) {
	if !slices.Contains(s.texts, text) {
		s.texts = append(s.texts, text)
	}
}

func (s *shape) schema(closed bool) map[string]any {
	schema := map[string]any{}
	if len(s.texts) > 0 {
		schema["description"] = strings.Join(s.texts, "; ")
	}
	if len(s.types) > 0 {
		schema["type"] = s.types
	}
	if len(s.names) == 0 {
		return schema
	}
	if place(s.names[0]) >= 0 {
		schema["type"], schema["prefixItems"] = []string{"array", "object"}, s.elements(closed)
		return schema
	}
	properties := map[string]any{}
	for i, name := range s.names {
		properties[name] = s.members[i].schema(closed)
	}
	schema["properties"] = properties
	if len(s.required) > 0 {
		schema["type"], schema["required"] = "object", s.required
	}
	if closed {
		schema["additionalProperties"] = false
	}
	return schema
}

// elements are the shapes of a list up to the last one that has a path.
func (s *shape) elements(closed bool) []any {
	var elements []any
	for i, name := range s.names {
		k := place(name)
		if k < 0 || k >= maxPaths {
			continue
		}
		for len(elements) <= k {
			elements = append(elements, map[string]any{})
		}
		elements[k] = s.members[i].schema(closed)
	}
	return elements
}

// types narrows the types of a place to those that the target reads; what may be absent may be null.
func (t *target) types(before []string) []string {
	types := []string{"number", "string", "boolean"}
	if t.optional {
		types = append(types, "null")
	}
	if t.as.isTime() {
		types = slices.DeleteFunc(types, func(name string) bool {
			return name == "boolean" || name == "number" && t.item.Clock.unit == 0
		})
	}
	if t.as == AsBool {
		types = types[1:]
	}
	if before == nil {
		return types
	}
	return slices.DeleteFunc(types, func(name string) bool { return !slices.Contains(before, name) })
}
