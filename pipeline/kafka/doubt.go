package kafka

import (
	"cmp"
	"fmt"
	"time"
)

// doubtFor is the time for which a loss must be found again and again before it counts, unless Config sets another. A
// broker that was stopped or cut off, and is back, considers itself the leader until it learns of its
// successor, and answers from a shorter log meanwhile. It learns within seconds: it asks the controller every 2 s and
// gives a request up after 2 s (controller.quorum.request.timeout.ms). 10 s leave room for a slow machine. They are
// above the 9 s after which partitions of a silent broker go to others (broker.session.timeout.ms). A longer time
// would only delay the message about the loss.
const doubtFor = 10 * time.Second

// Doubt requires more than one answer before a loss counts: offsets outside the log, a log that lost records after they
// were read, a topic that is gone. The caller looks again, each time with a fresh cluster layout, until a
// look finds nothing wrong (Clear) or the doubt is Over. The zero value has found nothing yet, and lasts for 10 s.
type Doubt struct {
	lasts       time.Duration // 0: doubtFor
	since, last time.Time
}

// Doubt returns a doubt that has found nothing yet and lasts for Config.DoubtFor.
func (c *Client) Doubt() Doubt { return Doubt{lasts: c.config.DoubtFor} }

// Over notes that a loss was found, and reports whether it has been found for as long as the doubt lasts. A look that
// comes later than that after the one before counts as the first, because an answer between them might have shown no
// loss.
func (d *Doubt) Over() bool {
	now, lasts := time.Now(), cmp.Or(d.lasts, doubtFor)
	if d.since.IsZero() || now.Sub(d.last) > lasts {
		d.since = now
	}
	d.last = now
	return now.Sub(d.since) >= lasts
}

// Clear notes that a look found nothing wrong.
func (d *Doubt) Clear() { *d = Doubt{lasts: d.lasts} }

// Verdict returns the loss once the doubt is over, and a transient error before.
func (d *Doubt) Verdict(loss error) error {
	if d.Over() {
		return loss
	}
	//nolint:errorlint // wrapped, it would be final
	return fmt.Errorf("kafka: looking again before it is believed: %v", loss)
}
