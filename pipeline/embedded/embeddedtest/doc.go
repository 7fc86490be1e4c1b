// Package embeddedtest starts an embedded broker for a test. It is separate from pipetest, which links the whole
// service, because a test of the Kafka client needs only a broker.
package embeddedtest
