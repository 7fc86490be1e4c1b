package schemas

import (
	"bytes"
	"embed"
	"strings"
)

// schemaFiles are the published schemas of decisions: JSON Schemas (draft 2020-12) by form, and one for each other
// encoding. The same folder has the schemas of events, one for each Body of an operator, made by EventSchema. For
// aggregate, place and type they the published schema is only an example, because settings define the members.
//
//go:embed jsonschema/decision.schema.json jsonschema/decision-sparse.schema.json decision.proto decision.avsc
var schemaFiles embed.FS

// EncodingSchema returns the published schema of decisions in a binary encoding: decision.proto or decision.avsc. All
// operators share it, because it does not name extra members; DecisionSchema does.
func EncodingSchema(e Encoding) []byte {
	file := "decision.proto"
	if e == Avro {
		file = "decision.avsc"
	}
	return readSchema(file)
}

// DecisionSchema returns the published JSON Schema of decisions of a form with the extra members of an operator. It
// panics if an extra breaks a rule of Extra. No extra is required, because a decision has all extras or none.
func DecisionSchema(form Form, extras []Extra) []byte {
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
		properties.WriteString(",\n    " + Quote(x.Name) + `: ` + x.schema())
		together = append(together, Quote(x.Name)+`: [`+Quote(extras[(i+1)%len(extras)].Name)+`]`)
	}
	const end, last = "\n  },\n", "]\n}\n"
	schema = bytes.Replace(schema, []byte(end), []byte(properties.String()+end), 1)
	return append(bytes.TrimSuffix(schema, []byte(last)),
		"],\n  \"dependentRequired\": { "+strings.Join(together, ", ")+" }\n}\n"...)
}

func readSchema(file string) []byte {
	schema, err := schemaFiles.ReadFile(file)
	if err != nil {
		panic("BUG: schemas: the embedded schema of decisions is gone")
	}
	return schema
}

func (x Extra) schema() string {
	text := `"type": "string"`
	switch x.Kind {
	case ExtraNumber:
		text = `"type": "number"`
	case ExtraNumbers:
		text = `"type": "array", "items": { "type": "number" }`
	case ExtraText:
	}
	if x.Text != "" {
		text = `"description": ` + Quote(x.Text) + `, ` + text
	}
	return `{ ` + text + ` }`
}
