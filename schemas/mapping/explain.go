package mapping

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"oriel/schemas/event"
	"oriel/schemas/text"
)

// Problem explains the code that the last Decode returned for the record: the member, the code, and the position of the
// fault. It names members and paths of the mapping, but never content of the record.
func (d *Decoder) Problem(record []byte, code text.Code) string {
	switch {
	case code == text.Filtered && d.failed >= 0:
		where := d.plan.where[d.failed]
		return fmt.Sprintf("%s: ORIEL_MAP keeps records with %s%s%s", code, where.Path, where.Operator, where.Constant)
	case d.failed >= 0:
		t := &d.plan.targets[d.failed]
		return fmt.Sprintf("%s: %s: %s", d.plan.name(t), code, d.explain(t, code))
	case code == text.MissingMember && d.events.Lacks() != "":
		return fmt.Sprintf("%s: %s: %s", d.events.Lacks(), code, code.Rule())
	}
	rule := code.Rule()
	if _, isJSON := d.source.(*jsonSource); isJSON && d.unread {
		rule = code.RuleAt(record)
	}
	if p, some := d.source.(Placer); some && d.unread && p.Place() != "" {
		rule = p.Place() + ": " + rule
	}
	return fmt.Sprintf("%s: %s", code, rule)
}

// explain describes the source of a target and the type of value found there.
func (d *Decoder) explain(t *target, code text.Code) string {
	if t.at < 0 {
		return code.Rule()
	}
	path, kind := d.plan.paths[t.at], d.values[t.at].Kind
	switch code {
	case text.MissingMember:
		return fmt.Sprintf("%s is %s", path, kind)
	case text.WrongType:
		return fmt.Sprintf("%s is %s; it must be %s", path, kind, t.form())
	case text.UnreadableValue:
		return fmt.Sprintf("%s is %s that does not say %s", path, kind, t.form())
	case text.WrongDimension:
		return fmt.Sprintf("the list that holds %s is longer than ORIEL_DIMENSION", path)
	default:
		return fmt.Sprintf("%s: %s", path, code.Rule())
	}
}

// name returns the name of a target's feature or member.
func (p *Plan) name(t *target) string {
	if t.feature >= 0 {
		vector, _ := p.config.Body.Vector()
		return vector.Name + "." + t.item.Name
	}
	return p.config.Body.Members[t.member].Name
}

// form describes the values from which a target can be read.
func (t *target) form() string {
	switch {
	case t.as.isTime() && t.item.Clock.unit == 0:
		return "a time of ISO 8601; a number needs epoch"
	case t.as.isTime() && t.item.Clock.unit == days:
		return "a time, or a whole number of days"
	case t.as.isTime():
		return "a time"
	case t.choice, t.as == AsText:
		return "a text, a number or a boolean"
	case t.item.Compare != nil && t.item.Compare.isNumber && t.item.Compare.ordered():
		return "a number to compare"
	case t.item.Compare != nil:
		return "a number, a text or a boolean to compare"
	case t.as == AsBool:
		return "true or false"
	case t.as == AsNumber || t.item.scales():
		return "a number"
	case t.feature >= 0:
		return "a number, a text or a boolean; of a time as says which part"
	}
	return "a number or a boolean"
}

// String returns the name of the kind.
func (k Kind) String() string {
	return [...]string{"absent", "null", "a number", "a text", "a boolean", "a time", "a list, an object or bytes"}[k]
}

// Schema returns the JSON Schema (draft 2020-12) of JSON records that the plan reads: the type at each path, and the
// item that it becomes. It cannot express that a text must be a number or a time; only a Decoder checks this.
func (p *Plan) Schema() []byte {
	root := newShape()
	for i := range p.where {
		where := &p.where[i]
		position := root.at(p.paths[where.at], false)
		position.describe("where: " + where.Operator + " " + where.Constant)
	}
	for i := range p.targets {
		if t := &p.targets[i]; t.at >= 0 && !t.beyond {
			position := root.at(p.paths[t.at], !t.optional)
			position.describe(p.name(t))
			position.types = t.types(position.types)
		}
	}
	schema := root.schema(p.config.Unknown == event.UnknownIsNull)
	schema["$schema"], schema["type"] = "https://json-schema.org/draft/2020-12/schema", "object"
	schema["title"] = "Record that ORIEL_MAP reads as an event" + p.of()
	text, err := json.MarshalIndent(schema, "", "  ")
	if err != nil {
		panic("BUG: mapping: a schema that cannot be printed: " + err.Error())
	}
	return append(text, '\n')
}

// shape describes a position of a record.
type shape struct {
	names    []string // names of the object's members, or indices of the list, in mapping order
	members  []*shape
	required []string
	texts    []string // descriptions of the items made from the member
	types    []string // JSON types that a target accepts; nil: any
}

func newShape() *shape { return &shape{} }

// at finds or makes the shape at a path; required means that every record has it.
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

func (s *shape) describe(text string) {
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

// elements returns the schemas of the elements of a list, up to the last element with a path.
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

// types narrows the JSON types at a position to those that the target accepts; an optional value may also be null.
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
