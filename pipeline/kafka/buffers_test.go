package kafka

import (
	"testing"
	"time"
)

// TestReleaseTouchesNothingOfTheNextOwner: between its return to the pool and the return of its share, a buffer may be
// taken by another. Its new share was once given back in place of the old one, which stayed taken for ever.
func TestReleaseTouchesNothingOfTheNextOwner(t *testing.T) {
	for _, bytes := range []int{largeBytes, hugeBytes} {
		var pool bufferPool
		budget := NewBudget(2 * hugeBytes)
		b := pool.get(bytes)
		b.share, _ = budget.try(bytes)
		next, _ := budget.try(1000)

		budget.mu.Lock() // the first owner stops before its share
		released := make(chan bool)
		go func() {
			b.release()
			close(released)
		}()
		var taken *buffer
		for end := time.Now().Add(time.Minute); taken == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
			taken = pool.takeLarge(bytes)
		}
		if taken != b {
			budget.mu.Unlock()
			t.Fatalf("%d bytes: the buffer is not in its pool before its share is free", bytes)
		}
		taken.refs.Store(1)
		taken.share = next
		budget.mu.Unlock()
		<-released

		if taken.share != next || budget.used != next.bytes {
			t.Errorf("%d bytes: the next owner's share is %d bytes and %d are taken, want %d", bytes, taken.share.bytes, budget.used, next.bytes)
		}
		taken.release()
		if budget.used != 0 {
			t.Errorf("%d bytes: %d are taken at the end", bytes, budget.used)
		}
	}
}
