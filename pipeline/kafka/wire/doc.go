// Package wire reads and writes the values of Kafka's protocol: integers, strings, arrays and tagged fields.
//
// A Reader takes values off bytes that are all there, a Frame off an answer that is still arriving. Both remember the
// first value that does not fit, so that a parser checks one error at its end; and both refuse a length beyond what can
// come, so that nobody allocates for a claim. The package knows no request: each is written and read where it is sent.
package wire
