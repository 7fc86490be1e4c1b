// Package recordschema reads schemas of records, in Avro's language or in Protobuf's, from files or as a registry has
// them.
package recordschema
