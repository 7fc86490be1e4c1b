// Package decision writes and reads decisions, in two forms and three encodings: JSON, Protobuf and Avro.
//
// An Encoder writes the decisions of a stream without an allocation. Parse reads all forms and encodings, and ignores
// members that it does not know; deploy/python/oriel/decisions.py does the same in Python. Schema and EncodingSchema
// return the published schemas.
package decision
