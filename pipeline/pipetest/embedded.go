package pipetest

import (
	"testing"

	"oriel/pipeline/embedded"
)

// Embedded starts an embedded broker that ends with the test, and returns its address.
func Embedded(tb testing.TB) string {
	tb.Helper()
	broker, err := embedded.Start(embedded.Options{Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(broker.Close)
	return broker.Addr()
}
