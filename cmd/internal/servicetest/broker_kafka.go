//go:build kafka

package servicetest

import (
	"os"
	"testing"
	"time"

	"oriel/pipeline/kafka/topics"
)

// waiting is smaller than on embedded brokers, because all tests share one broker, and some measure take-overs.
const waiting = 2

// doubtFor is the product's own: a real broker that was away may answer from an old log.
const doubtFor = 0

// SessionTimeout is the shortest that a broker takes by default, for tests that wait until a killed process has lost
// its partitions.
const SessionTimeout = 6 * time.Second

// Broker is the real broker that ORIEL_TEST_BROKERS names; without one the tests fail.
func Broker(t *testing.T) string {
	t.Helper()
	addr := os.Getenv("ORIEL_TEST_BROKERS")
	if addr == "" {
		t.Fatal("ORIEL_TEST_BROKERS is not set; build tag kafka needs a broker")
	}
	return addr
}

// awaitMarkers waits until the end of each transaction shows in a partition: a broker answers before it writes there.
func (f *Fixture) awaitMarkers(topic string, partition int32) {
	f.T.Helper()
	if _, err := topics.ReadableEnd(f.Ctx(), f.Client, topic, partition); err != nil {
		f.T.Fatal(err)
	}
}
