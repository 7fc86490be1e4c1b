// Package wire reads and writes the values of Kafka's protocol: integers, strings, arrays and tagged fields.
//
// A Reader takes values from complete bytes, a Frame from an answer that is still arriving. Both remember the first
// value that does not fit, so that a parser checks one error at its end. Both refuse a length beyond the bytes that can
// come, so that nothing is allocated for a claim. The package knows no request: each is written and read where it is
// sent.
package wire
