package pipeline

import (
	"context"
	"time"
)

// backoff doubles from its first pause to its last, with jitter so that members that failed together do not retry
// together.
type backoff struct {
	next   time.Duration
	jitter func(n time.Duration) time.Duration
}

const (
	firstPause = 100 * time.Millisecond
	lastPause  = 10 * time.Second
)

func (b *backoff) wait(ctx context.Context) error {
	b.next = min(max(2*b.next, firstPause), lastPause)
	return Pause(ctx, b.next/2+b.jitter(b.next/2))
}

func (b *backoff) reset() { b.next = 0 }

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
