// Package schemaregistry asks a schema registry for the schemas that events of a topic are written with. It speaks the
// API of Confluent's registry, which Apicurio, Karapace and Redpanda have as well.
//
// `oriel topics` and `oriel schema pull` ask, and freeze what they are told (state.Schemas). A running service never
// asks: what a registry says can change, and what a record says must not.
//
// A Client asks for at most maxVersions versions of a subject, takes at most maxAnswer bytes an answer, and follows
// references at most maxReferences deep.
package schemaregistry
