// Package schemaregistry fetches from a schema registry the schemas with which a topic's events are written, and
// registers the schema of decisions. It uses the API of Confluent's registry, which Apicurio, Karapace and Redpanda
// also offer.
//
// `oriel topics` and `oriel schema pull` freeze the registry's answers: schemas of events in state.Schemas, the id of
// the schema of decisions in the manifest. A running service must not decode by an answer, because answers can change,
// but the meaning of a record must not. Once an hour it compares the registry's versions with the frozen ones, and
// reports.
//
// A Client requests at most maxVersions versions of a subject, accepts at most maxAnswer bytes in a response, and
// follows references at most maxReferences deep.
package schemaregistry
