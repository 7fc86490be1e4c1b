// Package schemas holds the wire formats: JSON events in, decisions out in JSON, Protobuf or Avro, NDJSON lines, and
// the hashing of named features.
//
// A Body defines the members of events; each operator has one. A Decoder turns the value of an input record into an
// Event, or into a Code, the rule that the value breaks. A record that breaks a rule is a null event. The null event
// takes the record's place in the stream, so a Code never stops a stream. The rules:
//
//   - RFC 8259 in UTF-8: one value, an object, nothing but white space around it, no byte order mark, no lone surrogates, at
//     most MaxBytes bytes and 8 levels of nesting. Numbers follow JSON's grammar and are rounded correctly; overflow is a
//     fault, underflow is not.
//   - Top-level members are exactly those of the body, under one of their names. No name twice, no other name (case counts),
//     no null. Optional members may be left out.
//   - A vector is dense, an array of exactly Dimension numbers, or sparse, an object with exactly the members indices and
//     values, both arrays of one length; indices are integers in [0, Dimension), none twice, written without fraction or
//     exponent. Relatives are dense, each ≥ 0 and one at least > 0.
//   - Features may also be an object of named features (numbers, strings, true, false), hashed as FeatureConfig says. There
//     is no ambiguity with the sparse form: a named feature cannot be an array. So {"indices": 3} is one named feature.
//   - A class is −1, 0, 1, false or true (0 and false mean −1), a target any number, a weight any number ≥ 0. Numbers and
//     counts lie within their member's bounds, a choice is a text of its member's list.
//
// A document with several faults gets the Code of the first one found. The format does not define which fault that is,
// only that the document is invalid. testdata/documents.jsonl and testdata/members.jsonl define the format by examples.
//
// Cost: one pass over the bytes, no allocation in steady state, memory bounded by Dimension, MaxBytes and MaxNames for
// every input. No text of this package quotes a payload: a Code has a fixed name and a fixed rule.
//
// An Encoder writes decisions in one of two forms and three encodings. ParseDecision reads all of them, and ignores
// members that it does not know; deploy/python/oriel/decisions.py does the same in Python. decision.proto and
// decision.avsc are the schemas of the binary encodings, one for all operators. testdata/encodings.txt has decisions in
// each encoding.
//
// For other programs, jsonschema has a JSON Schema of decisions and of each body. Directory examples has documents that
// the schemas accept, named <schema>.<what it shows>.json. Each document in examples/invalid breaks one rule; the name
// of an invalid event ends with its Code.
//
//	body := schemas.Body{Name: "play", Members: []schemas.Member{
//		{Name: "arm", Kind: schemas.KindChoice, Choices: []string{"north", "south"}},
//		{Name: "reward", Kind: schemas.KindNumber, Least: 0, Most: 1},
//	}}
//	d, err := schemas.NewDecoder(schemas.EventConfig{Body: body, MaxBytes: 1 << 20})
//	code := d.Decode(&event, []byte(`{"arm":"south","reward":0.5}`)) // event.Numbers is 1, 0.5
package schemas
