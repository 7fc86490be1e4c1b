//go:build !kafka

package main

import (
	"testing"

	"oriel/pipeline/embedded"
)

// waiting is how many parallel tests wait beside each that computes: most have a broker and processes of their own.
const waiting = 6

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
