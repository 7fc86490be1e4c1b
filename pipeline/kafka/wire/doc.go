// Package wire reads and writes values of Kafka's protocol: of record batches, of answers that are still arriving, and
// of the headers of requests. Package kmsg of franz-go encodes and decodes most other requests and answers (kafka.Ask).
//
// A Reader takes values from complete bytes, a Frame from an answer that is still arriving. Both remember the first
// invalid value, so that a parser checks for one error, at its end. Both refuse a length beyond the remaining bytes, so
// that no memory is allocated for a false length.
package wire
