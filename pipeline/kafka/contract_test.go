package kafka_test

import (
	"testing"

	"oriel/pipeline/embedded"
	"oriel/pipeline/pipetest"
)

func TestContractOnTheEmbeddedBroker(t *testing.T) {
	t.Parallel()
	pipetest.Contract(t, startEmbedded(t))
}

func startEmbedded(tb testing.TB) string {
	tb.Helper()
	broker, err := embedded.Start(embedded.Options{Dir: tb.TempDir()})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(broker.Close)
	return broker.Addr()
}
