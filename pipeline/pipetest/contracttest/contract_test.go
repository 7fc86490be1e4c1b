package contracttest_test

import (
	"testing"

	"oriel/pipeline/pipetest/contracttest"
)

func TestContractOnTheEmbeddedBroker(t *testing.T) {
	t.Parallel()
	contracttest.InBubbles(t)
}
