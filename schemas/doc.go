// Package schemas holds the wire formats: JSON events in, JSON decisions out, NDJSON lines, and the hashing of named features.
//
// A Decoder turns the value of an input record into an Event or into a Code, the rule that the value breaks. A record that breaks a rule is
// a null event: it takes its place in the stream all the same, so a Code never stops anything. The rules:
//
//   - RFC 8259 in UTF-8: one value, an object, nothing but white space around it, no byte order mark, no lone surrogates, at most MaxBytes
//     bytes and 8 levels of nesting. Numbers follow JSON's grammar and are rounded correctly; overflow is a fault, underflow is not.
//   - Top-level members are exactly those of the body that the loss asks for. No name twice, no other name (case counts), no null.
//   - logistic, hinge, squared, absolute: features and label. linear: gradient or cost, one of them. portfolio: relatives. And in each body an
//     optional weight, finite and ≥ 0, 1 when absent.
//   - A vector is dense, an array of exactly Dimension numbers, or sparse, an object with exactly the members indices and values, both arrays
//     of one length; indices are integers in [0, Dimension), none twice, written without fraction or exponent. relatives are dense, each ≥ 0
//     and one at least > 0.
//   - features may also be an object of named features (numbers, strings, true, false), hashed as HashFeatures says. There is no ambiguity with
//     the sparse form: a named feature cannot be an array. So {"indices": 3} is one named feature.
//   - Labels: logistic and hinge take −1, 0, 1, false and true (0 and false mean −1); squared and absolute take any number.
//
// A document with several faults gets the Code of the first one found; which one is not part of the format, that there is one is.
// testdata/documents.jsonl is the definition by example.
//
// Cost: one pass over the bytes, no allocation in steady state, memory bounded by Dimension, MaxBytes and MaxNames whatever the input.
// No text of this package quotes a payload: a Code has a fixed name and a fixed rule.
//
//	d, err := schemas.NewDecoder(schemas.EventConfig{
//		Loss: "logistic", Dimension: 32, MaxBytes: 1 << 20,
//		Features: schemas.FeatureConfig{Bias: true, Norm: "unit"},
//	})
//	code := d.Decode(&event, []byte(`{"features":{"carrier":"UA","hour":17},"label":true}`))
package schemas
