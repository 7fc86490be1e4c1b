//go:build !kafka

package servicetest

import (
	"testing"
	"time"

	"oriel/cmd/internal/repotest"
)

// waiting is how many parallel tests wait beside each that computes: most have a broker and processes of their own.
const waiting = 8 / repotest.Fewer

// doubtFor is three looks. An embedded broker does not forget what it has acknowledged.
const doubtFor = 2500 * time.Millisecond * repotest.Fewer

// SessionTimeout is the shortest that a loaded machine keeps, for tests that wait until a killed process has lost its
// partitions. An embedded broker takes it.
const SessionTimeout = 2 * time.Second * repotest.Fewer

// Broker is an embedded broker of the test's own.
func Broker(t *testing.T) string {
	t.Helper()
	return EmbeddedBroker(t)
}

// awaitMarkers does nothing, because an embedded broker writes the markers of a transaction before it answers that the
// transaction has ended. Only the transaction of a killed process stays open, and no reader waits for its end.
func (f *Fixture) awaitMarkers(string, int32) {}
