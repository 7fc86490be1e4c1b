package pipeline

import (
	"time"

	"oriel/pipeline/order"
)

// ticks are the times at which commits are due. The reader of passed calls next after each, and stop at the end.
type ticks struct {
	passed <-chan time.Time
	next   func()
	stop   func()
}

// newTicks are an interval apart from now on. Those of a whole topic are in step with what writes its order, be that
// another process: each is a little after an order record.
func newTicks(interval time.Duration, ordered bool) ticks {
	if !ordered {
		ticker := time.NewTicker(interval)
		return ticks{passed: ticker.C, next: func() {}, stop: ticker.Stop}
	}
	wait := func() time.Duration { return time.Until(order.CommitTick(time.Now(), interval)) }
	timer := time.NewTimer(wait())
	return ticks{passed: timer.C, next: func() { timer.Reset(wait()) }, stop: func() { timer.Stop() }}
}
