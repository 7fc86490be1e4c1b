package decision

import (
	"bytes"
	"strings"

	"oriel/schemas"
	"oriel/schemas/text"
)

// EncodingSchema returns the published schema of decisions in a binary encoding: decision.proto or decision.avsc. All
// operators share it, because it does not name extra members; Schema does.
func EncodingSchema(e Encoding) []byte {
	file := "decision.proto"
	if e == Avro {
		file = "decision.avsc"
	}
	return readSchema(file)
}

// Schema returns the published JSON Schema of decisions of a form with the extra members of an operator. It
// panics if an extra breaks a rule of Extra. No extra is required, because a decision has all extras or none.
func Schema(form Form, extras []Extra) []byte {
	if err := checkExtras(extras); err != nil {
		panic("BUG: " + err.Error())
	}
	file := "jsonschema/decision.schema.json"
	if form == Sparse {
		file = "jsonschema/decision-sparse.schema.json"
	}
	schema := readSchema(file)
	if len(extras) == 0 {
		return schema
	}
	var properties strings.Builder
	var together []string
	for i, x := range extras {
		properties.WriteString(",\n    " + text.Quote(x.Name) + `: ` + x.schema())
		together = append(together, text.Quote(x.Name)+`: [`+text.Quote(extras[(i+1)%len(extras)].Name)+`]`)
	}
	const end, last = "\n  },\n", "]\n}\n"
	schema = bytes.Replace(schema, []byte(end), []byte(properties.String()+end), 1)
	return append(bytes.TrimSuffix(schema, []byte(last)),
		"],\n  \"dependentRequired\": { "+strings.Join(together, ", ")+" }\n}\n"...)
}

func readSchema(file string) []byte {
	schema, err := schemas.Published.ReadFile(file)
	if err != nil {
		panic("BUG: schemas: the embedded schema of decisions is gone")
	}
	return schema
}

func (x Extra) schema() string {
	s := `"type": "string"`
	switch x.Kind {
	case ExtraNumber:
		s = `"type": "number"`
	case ExtraNumbers:
		s = `"type": "array", "items": { "type": "number" }`
	case ExtraList:
		s = `"type": "array", "items": { "type": "object", "required": ["name", "count", "low", "high"], "properties": { ` +
			`"name": { "type": "string" }, "count": { "type": "integer", "minimum": 0 }, ` +
			`"low": { "type": "integer", "minimum": 0 }, "high": { "type": "integer", "minimum": 0 } } }`
	case ExtraText:
	}
	if x.Text != "" {
		s = `"description": ` + text.Quote(x.Text) + `, ` + s
	}
	return `{ ` + s + ` }`
}
