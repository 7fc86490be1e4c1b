//go:build kafka

package contracttest

import (
	"os"
	"testing"
)

func TestContractOnARealBroker(t *testing.T) {
	addr := os.Getenv("TEST_BROKERS")
	if addr == "" {
		t.Fatal("TEST_BROKERS is not set: the build tag kafka needs a broker")
	}
	onBroker(t, addr)
}
