package brokertest

import (
	"strings"
	"testing"

	"oriel/pipeline/embedded"
	"oriel/pipeline/kafka"
)

// Embedded starts an embedded broker that ends with the test. It keeps its data in memory unless the options name a
// directory.
func Embedded(tb testing.TB, o embedded.Options) *embedded.Broker {
	tb.Helper()
	o.Memory = o.Dir == ""
	broker, err := embedded.Start(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(broker.Close)
	return broker
}

// Client returns a client of the brokers at addr (host:port, several separated by commas), which is closed when the
// test ends.
func Client(tb testing.TB, addr string, c kafka.Config) *kafka.Client {
	tb.Helper()
	c.Brokers = strings.Split(addr, ",")
	client, err := kafka.New(c)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = client.Close() })
	return client
}
