package kafka_test

import (
	"testing"

	"oriel/pipeline/pipetest"
	"oriel/pipeline/pipetest/contracttest"
)

func TestContractOnTheEmbeddedBroker(t *testing.T) {
	t.Parallel()
	contracttest.Contract(t, pipetest.Embedded(t))
}
