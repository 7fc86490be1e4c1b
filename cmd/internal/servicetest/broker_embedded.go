//go:build !kafka

package servicetest

import "testing"

// Broker is an embedded broker of the test's own.
func Broker(t *testing.T) string {
	t.Helper()
	return EmbeddedBroker(t)
}
