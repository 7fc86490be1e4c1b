//go:build kafka

package servicetest

import (
	"testing"
	"time"

	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/pipetest/brokertest"
)

// waiting is smaller than with embedded brokers, because all tests share one broker and some tests measure take-overs.
const waiting = 2

// doubtFor is 0, which stands for the product's own value, because a real broker that was away may answer from an old
// log.
const doubtFor = 0

// SessionTimeout is the shortest session timeout that a broker accepts by default. It is for tests that wait until a
// killed process has lost its partitions.
const SessionTimeout = 6 * time.Second

// Broker returns the address of the real broker in TEST_BROKERS. The test fails if the variable is not set.
func Broker(t *testing.T) string {
	t.Helper()
	return brokertest.Real(t)
}

// awaitMarkers waits until the end of each transaction is visible in a partition, because a broker acknowledges it
// before it writes the markers.
func (f *Setup) awaitMarkers(topic string, partition int32) {
	f.T.Helper()
	if _, err := topics.ReadableEnd(f.Ctx(), f.Client, topic, partition); err != nil {
		f.T.Fatal(err)
	}
}
