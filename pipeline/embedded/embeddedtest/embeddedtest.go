package embeddedtest

import (
	"testing"

	"oriel/pipeline/embedded"
)

// Start starts an embedded broker that ends with the test, and returns its address.
func Start(tb testing.TB) string {
	tb.Helper()
	broker, err := embedded.Start(embedded.Options{Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(broker.Close)
	return broker.Addr()
}
