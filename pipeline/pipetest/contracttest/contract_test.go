package contracttest

import (
	"testing"
)

func TestContractOnTheEmbeddedBroker(t *testing.T) {
	t.Parallel()
	inBubbles(t)
}
