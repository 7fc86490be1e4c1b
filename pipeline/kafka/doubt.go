package kafka

import (
	"fmt"
	"time"
)

// doubtFor is how long a loss must be found again and again before it is believed. A broker that was stopped, or cut
// off, and is back takes itself for the leader until it has heard of its successor, and answers from a shorter log
// meanwhile. It hears within seconds: it asks the controller every 2 s and gives a request up after 2 s
// (controller.quorum.request.timeout.ms). 10 s leave room for a slow machine, and are above the 9 s after which
// partitions of a silent broker go to others (broker.session.timeout.ms). A longer doubt would only delay a message
// that somebody must read anyway.
const doubtFor = 10 * time.Second

// Doubt keeps a verdict of loss from being taken from one answer: offsets outside the log, a log that lost what was
// read, a topic that is gone. The caller looks again, each time by a fresh cluster layout, until a look finds nothing
// wrong (Clear) or the doubt is Over. The zero value has heard of nothing.
type Doubt struct{ since, last time.Time }

// Over notes that a loss was found, and reports whether it has been found for doubtFor. Looks further apart than that
// count as the first: nobody knows what an answer between them would have been.
func (d *Doubt) Over() bool {
	now := time.Now()
	if d.since.IsZero() || now.Sub(d.last) > doubtFor {
		d.since = now
	}
	d.last = now
	return now.Sub(d.since) >= doubtFor
}

// Clear notes that a look found nothing wrong.
func (d *Doubt) Clear() { *d = Doubt{} }

// Verdict is a loss once the doubt is over, and a transient error before.
func (d *Doubt) Verdict(loss error) error {
	if d.Over() {
		return loss
	}
	//nolint:errorlint // wrapped, it would be final
	return fmt.Errorf("kafka: looking again before it is believed: %v", loss)
}
