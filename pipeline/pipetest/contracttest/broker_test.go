//go:build kafka

package contracttest_test

import (
	"os"
	"testing"

	"oriel/pipeline/pipetest/contracttest"
)

func TestContractOnARealBroker(t *testing.T) {
	addr := os.Getenv("ORIEL_TEST_BROKERS")
	if addr == "" {
		t.Fatal("ORIEL_TEST_BROKERS is not set: the build tag kafka needs a broker")
	}
	contracttest.OnBroker(t, addr)
}
