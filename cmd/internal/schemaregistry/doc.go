// Package schemaregistry fetches from a schema registry the schemas with which a topic's events are written, and
// registers the schema of decisions. It uses the API of Confluent's registry, which Apicurio, Karapace and Redpanda
// also offer.
//
// Only `oriel topics` and `oriel schema pull` call the registry, and they freeze its answers: schemas of events in
// state.Schemas, the id of the schema of decisions in the manifest. A running service must never call it, because a
// registry's answer can change, but the meaning of a record must not.
//
// A Client requests at most maxVersions versions of a subject, accepts at most maxAnswer bytes in a response, and
// follows references at most maxReferences deep.
package schemaregistry
