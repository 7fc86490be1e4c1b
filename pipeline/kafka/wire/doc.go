// Package wire reads and writes the values of Kafka's protocol: integers, strings, arrays and tagged fields.
//
// A Reader takes values from complete bytes, a Frame from an answer that is still arriving. Both remember the first
// invalid value, so that a parser checks for one error, at its end. Both refuse a length beyond the remaining bytes, so
// that no memory is allocated for a false length. The package has no requests: each request is encoded and parsed by
// the package that sends it.
package wire
