// Package event defines JSON events: their members, the decoder, the hashing of named features, and their JSON Schema.
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
//     counts lie within their member's bounds, a choice is a text of its member's list. A name is a text that no list has;
//     the event has its clean form, as text.CleanName says.
//
// A document with several faults gets the Code of the first one found. The format does not define which fault that is,
// only that the document is invalid.
//
// Cost: one pass over the bytes, no allocation in steady state, memory bounded by Dimension, MaxBytes and MaxNames for
// every input.
//
//	body := event.Body{Name: "play", Members: []event.Member{
//		{Name: "arm", Kind: event.KindChoice, Choices: []string{"north", "south"}},
//		{Name: "reward", Kind: event.KindNumber, Least: 0, Most: 1},
//	}}
//	d, err := event.NewJSONDecoder(event.Config{Body: body, MaxBytes: 1 << 20})
//	code := d.Decode(&e, []byte(`{"arm":"south","reward":0.5}`)) // e.Numbers is 1, 0.5
package event
