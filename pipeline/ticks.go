package pipeline

import (
	"time"

	"oriel/pipeline/order"
)

// ticks delivers the times at which commits are due. The reader of passed must call next after each tick, and must call
// stop at the end.
type ticks struct {
	passed <-chan time.Time
	next   func()
	stop   func()
}

// newTicks returns ticks with a fixed interval from now on. For a whole topic, each tick comes shortly after an order
// record, even if another process writes the order.
func newTicks(interval time.Duration, ordered bool) ticks {
	if !ordered {
		ticker := time.NewTicker(interval)
		return ticks{passed: ticker.C, next: func() {}, stop: ticker.Stop}
	}
	wait := func() time.Duration { return time.Until(order.CommitTick(time.Now(), interval)) }
	timer := time.NewTimer(wait())
	return ticks{passed: timer.C, next: func() { timer.Reset(wait()) }, stop: func() { timer.Stop() }}
}
