//go:build !kafka

package servicetest

import (
	"testing"

	"oriel/pipeline/embedded"
)

// Broker is an embedded broker of the test's own.
func Broker(t *testing.T) string {
	t.Helper()
	b, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b.Addr()
}
