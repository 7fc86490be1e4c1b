package embeddedtest

import (
	"testing"

	"oriel/pipeline/embedded"
)

// Start starts an embedded broker that ends with the test. It keeps its data in memory unless the options name a
// directory.
func Start(tb testing.TB, o embedded.Options) *embedded.Broker {
	tb.Helper()
	o.Memory = o.Dir == ""
	broker, err := embedded.Start(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(broker.Close)
	return broker
}
