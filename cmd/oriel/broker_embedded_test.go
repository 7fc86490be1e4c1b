//go:build !kafka

package main

import (
	"testing"

	"oriel/pipeline/embedded"
)

// testBroker is an embedded broker of the test's own.
func testBroker(t *testing.T) string {
	t.Helper()
	b, err := embedded.Start(embedded.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b.Addr()
}
