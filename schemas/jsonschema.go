package schemas

import (
	"embed"
	"io/fs"
)

//go:embed jsonschema/*.schema.json
var schemaFiles embed.FS

// JSONSchemas holds the published JSON Schemas (draft 2020-12): event-loss, event-linear, event-portfolio and decision, each with the suffix
// .schema.json. They describe the shape; what JSON Schema cannot say (the dimension, duplicate names, a number's size) only the Decoder checks.
func JSONSchemas() fs.FS {
	sub, err := fs.Sub(schemaFiles, "jsonschema")
	if err != nil {
		panic("BUG: schemas: the embedded folder is gone")
	}
	return sub
}
