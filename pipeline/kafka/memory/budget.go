package memory

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Budget bounds the bytes that its Readers hold in fetched and decompressed batches together. A Reader waits for its
// share before it asks a broker or decompresses. The budget decides when a record is read, never what the record is.
//
// Every Reader makes progress, whatever the size. A Batch that was handed out is released without waiting for the
// budget. A Reader waits with at most one answer, for room to decompress it. Besides the size there is one slot for a
// single decompressed batch, however large, which all Readers that wait for such room use in turn. So decompression
// bombs are unpacked one after the other.
//
// A caller must not hold a Batch of one Reader while it waits for another Reader of the same Budget.
// fetch.Options.Budget gives the first of the two Readers a Budget of its own.
type Budget struct {
	mu       sync.Mutex
	size     int
	used     int
	oversize bool      // the slot for one larger batch beside the size is taken
	waiting  []*waiter // in the order they came
}

// ErrNoRoom reports that there is no room now. Only callers that do not wait for room get it.
var ErrNoRoom = errors.New("kafka: no room in memory")

// NewBudget returns a budget of size bytes, at least one. A nil Budget has no bound.
func NewBudget(size int) *Budget { return &Budget{size: max(size, 1)} }

// waiter is a call of take.
type waiter struct {
	bytes    int
	oversize bool       // may take the slot beside the size
	ready    chan Share // receives the share when it is granted; capacity 1
}

// Share is a part of a budget that a caller holds. The zero value holds nothing.
type Share struct {
	budget   *Budget
	bytes    int
	oversize bool
}

// Take waits for room to read an answer. An answer larger than the whole budget waits until nothing else is held.
func (b *Budget) Take(ctx context.Context, bytes int) (Share, error) {
	if b == nil || bytes == 0 {
		return Share{}, nil
	}
	return b.wait(ctx, &waiter{bytes: min(bytes, b.size)})
}

// TryTake takes as much room as Take does, if there is room now and no caller waits.
func (b *Budget) TryTake(bytes int) (Share, bool) {
	if b == nil || bytes == 0 {
		return Share{}, true
	}
	return b.Try(min(bytes, b.size))
}

// TakeOrOversize waits for room to decompress, within the budget or in the slot beside it.
func (b *Budget) TakeOrOversize(ctx context.Context, bytes int) (Share, error) {
	if b == nil {
		return Share{}, nil
	}
	return b.wait(ctx, &waiter{bytes: bytes, oversize: true})
}

// Try takes room if there is some now and no caller waits.
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

// canFit reports whether a request fits into the budget at all; one that does not must use the slot.
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
	b.serve() // those behind may fit
	b.mu.Unlock()
	select {
	case s := <-w.ready:
		s.Release()
	default:
	}
	return Share{}, ctx.Err()
}

// serve grants requests in order of arrival, so that large requests do not starve. A request that is larger than the
// whole budget waits for the slot beside it, and delays no other request.
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

// Grow grows the share to so many bytes, if there is room now. It grows no share beyond the whole budget.
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

// Held returns the bytes that are held within the size, and whether the slot beside it is taken.
func (b *Budget) Held() (bytes int, oversize bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.oversize
}

// Shrink gives back all but so many bytes.
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

// Release gives the whole share back; a second call does nothing.
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
