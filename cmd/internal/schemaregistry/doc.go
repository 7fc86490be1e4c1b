// Package schemaregistry asks a schema registry for the schemas that events of a topic are written with, and registers
// the schema of decisions. It speaks the API of Confluent's registry, which Apicurio, Karapace and Redpanda have as
// well.
//
// `oriel topics` and `oriel schema pull` ask, and freeze the answer: schemas of events in state.Schemas, the id of the
// schema of decisions in the manifest. A running service never asks, because the answer of a registry can change, and
// the meaning of a record must not.
//
// A Client asks for at most maxVersions versions of a subject, takes at most maxAnswer bytes an answer, and follows
// references at most maxReferences deep.
package schemaregistry
