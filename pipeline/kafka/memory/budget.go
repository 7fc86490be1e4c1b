package memory

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Budget bounds the bytes that its Readers hold in fetched and decompressed batches together. A Reader waits for its
// share before it asks a broker or decompresses. The budget affects when a record is read, never its content.
//
// Every Reader makes progress, with a budget of any size. A Batch that was handed out can always be released without
// waiting for the budget. A Reader that waits for memory to decompress holds at most one answer. In addition to the
// size there is an oversize slot for one decompressed batch of any size, which waiting Readers use in turn. So
// decompression bombs are unpacked one after the other.
//
// A caller must not hold a Batch of one Reader while it waits for another Reader of the same Budget.
// fetch.Options.Budget gives the first of the two Readers a Budget of its own.
type Budget struct {
	mu       sync.Mutex
	size     int
	used     int
	oversize bool      // the slot for one batch larger than the free bytes is taken
	waiting  []*waiter // in the order of arrival
}

// ErrNoRoom reports that there is no memory now. Only callers that do not wait for memory get it.
var ErrNoRoom = errors.New("kafka: no room in memory")

// NewBudget returns a budget of size bytes, at least one. A nil Budget has no bound.
func NewBudget(size int) *Budget { return &Budget{size: max(size, 1)} }

// waiter is a call that waits for memory.
type waiter struct {
	bytes    int
	oversize bool       // the request may use the oversize slot
	ready    chan Share // receives the share when it is granted; has capacity 1
}

// Share is a part of a budget that a caller holds. The zero value holds nothing.
type Share struct {
	budget   *Budget
	bytes    int
	oversize bool
}

// Take waits for memory to read an answer. An answer larger than the budget waits until no other memory is held.
func (b *Budget) Take(ctx context.Context, bytes int) (Share, error) {
	if b == nil || bytes == 0 {
		return Share{}, nil
	}
	return b.wait(ctx, &waiter{bytes: min(bytes, b.size)})
}

// TryTake is Take for a caller that does not wait: it fails if there is no memory now, or if another caller waits.
func (b *Budget) TryTake(bytes int) (Share, bool) {
	if b == nil || bytes == 0 {
		return Share{}, true
	}
	return b.Try(min(bytes, b.size))
}

// TakeOrOversize waits for memory to decompress, within the budget or in the oversize slot.
func (b *Budget) TakeOrOversize(ctx context.Context, bytes int) (Share, error) {
	if b == nil {
		return Share{}, nil
	}
	return b.wait(ctx, &waiter{bytes: bytes, oversize: true})
}

// Try takes memory if there is enough now and no caller waits.
func (b *Budget) Try(bytes int) (Share, bool) {
	if b == nil {
		return Share{}, true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+bytes > b.size || slices.ContainsFunc(b.waiting, b.canFit) {
		return Share{}, false
	}
	b.used += bytes
	return Share{budget: b, bytes: bytes}, true
}

// canFit reports whether a request fits into an empty budget; a larger one must use the oversize slot.
func (b *Budget) canFit(w *waiter) bool { return w.bytes <= b.size }

func (b *Budget) wait(ctx context.Context, w *waiter) (Share, error) {
	w.ready = make(chan Share, 1)
	b.mu.Lock()
	b.waiting = append(b.waiting, w)
	b.serve()
	b.mu.Unlock()
	select {
	case s := <-w.ready:
		return s, nil
	case <-ctx.Done():
	}
	b.mu.Lock()
	b.waiting = slices.DeleteFunc(b.waiting, func(other *waiter) bool { return other == w })
	b.serve() // later requests may fit now
	b.mu.Unlock()
	select {
	case s := <-w.ready:
		s.Release()
	default:
	}
	return Share{}, ctx.Err()
}

// serve grants requests in order of arrival, so that large requests do not starve. A request larger than the budget
// waits for the oversize slot, and delays no other request.
func (b *Budget) serve() {
	full := false
	b.waiting = slices.DeleteFunc(b.waiting, func(w *waiter) bool {
		switch {
		case !full && b.used+w.bytes <= b.size:
			b.used += w.bytes
			w.ready <- Share{budget: b, bytes: w.bytes}
		case w.oversize && !b.oversize:
			b.oversize = true
			w.ready <- Share{budget: b, bytes: w.bytes, oversize: true}
		default:
			full = full || b.canFit(w)
			return false
		}
		return true
	})
}

// Grow grows the share to a number of bytes, if there is memory now. It grows no share beyond the budget's size.
func (s *Share) Grow(b *Budget, bytes int) bool {
	if b == nil || s.bytes >= min(bytes, b.size) {
		return true
	}
	more, ok := b.Try(bytes - s.bytes)
	if ok {
		*s = Share{budget: b, bytes: s.bytes + more.bytes}
	}
	return ok
}

// Held returns the bytes held within the size, and whether the oversize slot is taken.
func (b *Budget) Held() (bytes int, oversize bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.oversize
}

// Shrink returns all but the given number of bytes to the budget.
func (s *Share) Shrink(bytes int) {
	if s.budget == nil || s.oversize || bytes >= s.bytes {
		return
	}
	s.budget.mu.Lock()
	defer s.budget.mu.Unlock()
	s.budget.used -= s.bytes - bytes
	s.bytes = bytes
	s.budget.serve()
}

// Release returns the full share to the budget; a second call has no effect.
func (s *Share) Release() {
	b := s.budget
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if s.oversize {
		b.oversize = false
	} else {
		b.used -= s.bytes
	}
	*s = Share{}
	b.serve()
}
