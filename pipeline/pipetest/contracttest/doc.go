// Package contracttest is what every broker must pass.
//
// The suite states what Oriel needs of a Kafka broker and of package kafka on top of it. It runs against the embedded
// broker in every test run and, with the build tag kafka, against a real one: a fake that passes what the real one
// passes. It makes topics, groups and transactional ids of its own, with random names, and removes nothing.
package contracttest
