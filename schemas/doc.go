// Package schemas has the published schemas of the wire formats, with examples and test vectors for other programs.
//
// The formats themselves are in the folders below. Package event reads events, package decision writes decisions, and
// package text has the JSON and the codes of faults that both use. Packages mapping, avro, protobuf, framing and table
// make events of records that have other forms.
//
// Folder jsonschema has a JSON Schema of decisions and of each body. Folder examples has documents that the schemas
// accept, named <schema>.<what it shows>.json. Each document in examples/invalid breaks one rule; the name of an
// invalid event ends with its code. decision.proto and decision.avsc are the schemas of the binary encodings, one for
// all operators. Folder testdata defines the formats by examples: documents.jsonl and members.jsonl have events,
// hashing.json hashed features, and encodings.txt decisions in each encoding.
package schemas
