package kafka

import (
	"cmp"
	"context"
	"fmt"
	"time"
)

const (
	// firstPause is so long that its half, the shortest first pause, suffices for a coordinator to finish the markers
	// of the previous transaction (error 51): about 1 ms.
	firstPause = 2 * time.Millisecond

	// lastPause is short, so that fail-over is quick; brokers easily bear ten requests per second and partition.
	lastPause = 250 * time.Millisecond
)

// Backoff doubles its pause from the first to the last. Each pause is drawn from its upper half, so that members that
// failed together do not retry together.
type Backoff struct {
	first, next, last time.Duration
	jitter            func(n time.Duration) time.Duration
}

// NewBackoff returns a back-off whose pauses are drawn by Config.Jitter.
func (c *Client) NewBackoff(first, last time.Duration) *Backoff {
	return &Backoff{first: first, next: first, last: last, jitter: c.config.Jitter}
}

// Pauses returns a back-off between attempts of one request.
func (c *Client) Pauses() *Backoff { return c.NewBackoff(firstPause, lastPause) }

// Wait sleeps for the next pause. If ctx ends first, it returns the cause.
func (b *Backoff) Wait(ctx context.Context) error {
	pause := b.next/2 + b.jitter(b.next/2+1)
	b.next = min(2*b.next, b.last)
	return Pause(ctx, pause)
}

// Reset makes the next pause the first one again.
func (b *Backoff) Reset() { b.next = b.first }

// Pause waits for d or until ctx ends.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// doubtFor is the time for which repeated checks must find a loss before it counts, unless Config sets another. A
// broker that was stopped or disconnected, and returns, considers itself the leader until it learns of its successor.
// Until then it answers from a shorter log. It learns within seconds: it asks the controller every 2 s and abandons a
// request after 2 s (controller.quorum.request.timeout.ms). 10 s leave room for a slow machine, and exceed the 9 s
// after which the partitions of a silent broker get other leaders (broker.session.timeout.ms). A longer time would only
// delay the message about the loss.
const doubtFor = 10 * time.Second

// Doubt requires more than one answer before a loss counts: offsets outside the log, a log that lost records after they
// were read, a missing topic. The caller repeats its check, each time with a fresh cluster layout, until a check finds
// no loss (Clear) or Over reports true. The zero value has found no loss yet, and requires 10 s.
type Doubt struct {
	lasts       time.Duration // time for which a loss must be found again; 0: doubtFor
	since, last time.Time
}

// Doubt returns a Doubt that has found no loss yet and requires Config.DoubtFor.
func (c *Client) Doubt() Doubt { return Doubt{lasts: c.config.DoubtFor} }

// Over records that a check found a loss, and reports whether checks have found it for the required time. If the
// previous check was longer ago than this time, the check counts as the first, because an answer in between might have
// shown no loss.
func (d *Doubt) Over() bool {
	now, lasts := time.Now(), cmp.Or(d.lasts, doubtFor)
	if d.since.IsZero() || now.Sub(d.last) > lasts {
		d.since = now
	}
	d.last = now
	return now.Sub(d.since) >= lasts
}

// Clear records that a check found no loss.
func (d *Doubt) Clear() { *d = Doubt{lasts: d.lasts} }

// Verdict returns the loss once the doubt is over, and a transient error before.
func (d *Doubt) Verdict(loss error) error {
	if d.Over() {
		return loss
	}
	//nolint:errorlint // wrapped, it would be final
	return fmt.Errorf("kafka: the client asks again before it reports this: %v", loss)
}
