package schemas

import "embed"

// Published has the schemas of decisions for other programs: JSON Schemas (draft 2020-12) by form, and one for each
// other encoding. Folder jsonschema also has the schemas of events, one for each body of an operator, made by
// event.Schema. For aggregate, place and type the published schema is only an example, because settings define the
// members.
//
//go:embed jsonschema/decision.schema.json jsonschema/decision-sparse.schema.json decision.proto decision.avsc
var Published embed.FS
