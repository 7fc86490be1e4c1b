package memory

import (
	"runtime"
	"testing"
	"time"
)

// TestReleaseTouchesNothingOfTheNextOwner checks the moment between a buffer's return to the pool and the return of its
// share: another Reader may take the buffer in between, and the buffer's new share must not be returned in place of the
// old share.
func TestReleaseTouchesNothingOfTheNextOwner(t *testing.T) {
	for _, bytes := range []int{LargeBytes, HugeBytes} {
		var pool Pool
		budget := NewBudget(2 * HugeBytes)
		b := pool.Get(bytes)
		b.Share, _ = budget.Try(bytes)
		next, _ := budget.Try(1000)

		budget.mu.Lock() // blocks the first owner before it returns its share
		released := make(chan bool)
		go func() {
			b.Release()
			close(released)
		}()
		var memory []byte
		for end := time.Now().Add(time.Minute); memory == nil && time.Now().Before(end); time.Sleep(time.Millisecond) {
			memory = pool.takeLarge(bytes)
		}
		if cap(memory) != bytes || &memory[:1][0] != &b.B[:1][0] {
			budget.mu.Unlock()
			t.Fatalf("%d bytes: the memory is not in its pool before its share is free", bytes)
		}
		taken := &Buffer{pool: &pool, B: memory, Share: next}
		taken.refs.Store(1)
		budget.mu.Unlock()
		<-released

		if taken.Share != next || budget.used != next.bytes {
			t.Errorf("%d bytes: the next owner's share is %d bytes and %d are taken, want %d",
				bytes, taken.Share.bytes, budget.used, next.bytes)
		}
		taken.Release()
		if budget.used != 0 {
			t.Errorf("%d bytes: %d are taken at the end", bytes, budget.used)
		}
	}
}

// TestAReferredArrayIsReused checks that a large array is reused even while a record refers to it, and that no second
// array is allocated.
func TestAReferredArrayIsReused(t *testing.T) {
	for _, bytes := range []int{LargeBytes, HugeBytes} {
		var pool Pool
		record := func() []byte {
			b := pool.Get(bytes)
			defer b.Release()
			return b.B[:10]
		}()
		runtime.GC()
		runtime.GC()
		if again := pool.Get(bytes); &again.B[:1][0] != &record[0] {
			t.Errorf("%d bytes: a second buffer was made", bytes)
		}
		runtime.KeepAlive(record)
	}
}
