package kafka

import (
	"context"
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
