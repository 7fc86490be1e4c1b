//go:build kafka

package servicetest

import (
	"os"
	"testing"
)

// waiting is smaller than on embedded brokers, because all tests share one broker, and some measure take-overs.
const waiting = 2

// Broker is the real broker that ORIEL_TEST_BROKERS names; without one the tests fail.
func Broker(t *testing.T) string {
	t.Helper()
	addr := os.Getenv("ORIEL_TEST_BROKERS")
	if addr == "" {
		t.Fatal("ORIEL_TEST_BROKERS is not set; build tag kafka needs a broker")
	}
	return addr
}
