//go:build kafka

package contracttest

import (
	"testing"

	"oriel/pipeline/pipetest/brokertest"
)

func TestContractOnARealBroker(t *testing.T) {
	onBroker(t, brokertest.Real(t))
}
