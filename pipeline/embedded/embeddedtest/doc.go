// Package embeddedtest starts an embedded broker for a test. It stands apart from pipetest, which links the whole
// service: a test of the Kafka client needs a broker and no service.
package embeddedtest
