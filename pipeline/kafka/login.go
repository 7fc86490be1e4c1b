package kafka

import (
	"fmt"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// Login is a SASL mechanism by its name: plain (use it under TLS only), scram-sha-256 or scram-sha-512.
func Login(mechanism, user, password string) (sasl.Mechanism, error) {
	switch mechanism {
	case "plain":
		return plain.Mechanism{Username: user, Password: password}, nil
	case "scram-sha-256":
		return scram.Mechanism(scram.SHA256, user, password)
	case "scram-sha-512":
		return scram.Mechanism(scram.SHA512, user, password)
	}
	return nil, fmt.Errorf("kafka: login %q: not plain, scram-sha-256 or scram-sha-512", mechanism)
}
