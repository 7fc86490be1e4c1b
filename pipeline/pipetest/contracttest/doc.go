// Package contracttest holds the tests that every broker must pass.
//
// The suite states Oriel's requirements of a Kafka broker and of package kafka on top of it. It runs against the
// embedded broker in every test run and, with the build tag kafka, against a real one. So the fake is tested like the
// real one. It makes topics, groups and transactional ids with random names, and removes nothing.
package contracttest
