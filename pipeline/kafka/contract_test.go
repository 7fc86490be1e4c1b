package kafka_test

import (
	"testing"

	"oriel/pipeline/pipetest"
)

func TestContractOnTheEmbeddedBroker(t *testing.T) {
	t.Parallel()
	pipetest.Contract(t, pipetest.Embedded(t))
}
