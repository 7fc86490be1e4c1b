package kafka

import (
	"context"
	"time"
)

const (
	// firstPause is what a coordinator needs to finish the markers of the transaction before (error 51): about 1 ms.
	firstPause = 2 * time.Millisecond

	// lastPause keeps fail-over short; ten requests per second and partition are nothing to a broker.
	lastPause = 250 * time.Millisecond
)

// backoff doubles its pause from firstPause to lastPause, each taken at random from its upper half.
type backoff struct {
	next   time.Duration
	jitter func(n time.Duration) time.Duration
}

func newBackoff(jitter func(n time.Duration) time.Duration) *backoff {
	return &backoff{next: firstPause, jitter: jitter}
}

// wait sleeps, and reports why ctx ended if it did before the pause was over.
func (b *backoff) wait(ctx context.Context) error {
	pause := b.next/2 + b.jitter(b.next/2+1)
	b.next = min(2*b.next, lastPause)
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
