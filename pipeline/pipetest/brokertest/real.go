//go:build kafka

package brokertest

import (
	"os"
	"testing"
)

// Real returns the address of the real brokers in TEST_BROKERS. The test fails if the variable is not set.
func Real(tb testing.TB) string {
	tb.Helper()
	addr := os.Getenv("TEST_BROKERS")
	if addr == "" {
		tb.Fatal("TEST_BROKERS is not set: the build tag kafka needs a broker")
	}
	return addr
}
