//go:build !kafka

package servicetest

import (
	"testing"
	"time"

	"oriel/mechanisms/mechtest/tiertest"
)

// waiting is the number of parallel tests that may wait for each test that computes. It is large because most tests
// have a broker and processes of their own, for which they wait.
const waiting = 12 / tiertest.Fewer

// doubtFor is the time of three looks at a topic, after which the service believes that records or topics are lost. It
// can be short, because an embedded broker never loses acknowledged records.
const doubtFor = 2500 * time.Millisecond * tiertest.Fewer

// SessionTimeout is the shortest session timeout that members keep on a loaded machine. It is for tests that wait until
// a killed process has lost its partitions. An embedded broker accepts it.
const SessionTimeout = 2 * time.Second * tiertest.Fewer

// Broker starts an embedded broker for the test and returns its address.
func Broker(t *testing.T) string {
	t.Helper()
	return EmbeddedBroker(t)
}

// awaitMarkers does nothing, because an embedded broker writes the markers of a transaction before it acknowledges the
// transaction's end. Only the transaction of a killed process stays open, and no reader waits for the end of such a
// transaction.
func (f *Setup) awaitMarkers(string, int32) {}
