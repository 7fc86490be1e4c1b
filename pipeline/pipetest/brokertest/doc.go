// Package brokertest gives a test a broker, embedded or, with the build tag kafka, real, and a client of it. It is no
// part of pipetest, because pipetest links the whole service, and a test of the Kafka client needs only a broker.
package brokertest
