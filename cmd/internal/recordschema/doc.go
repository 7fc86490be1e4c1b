// Package recordschema reads schemas of records in Avro or Protobuf, from files or from a schema registry.
package recordschema
