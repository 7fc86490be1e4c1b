package memory

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Budget bounds what the Readers that share it hold in fetched and decompressed batches, bytes together. A Reader waits
// for its share before it asks a broker or decompresses. It decides when a record is read, never what the record is.
//
// Whatever the size, everybody gets on. What has been handed out as a Batch is released without waiting for anything
// here. A Reader waits with one answer in hand at most, for room to decompress it; and beside the size there is one
// place for a single decompressed batch, however large, which all who wait for such room take in turn. So decompression
// bombs are unpacked one after the other.
//
// A Batch that is held while its holder waits for another Reader of the same Budget breaks that: fetch.Options.Budget
// gives the first of the two Readers a Budget of its own, and it is the first with everybody.
type Budget struct {
	mu       sync.Mutex
	size     int
	used     int
	oversize bool      // the place beside the size is taken
	waiting  []*waiter // in the order they came
}

// ErrNoRoom reports that there is no room now, to a caller that does not wait for it.
var ErrNoRoom = errors.New("kafka: no room in memory")

// NewBudget gives a budget of so many bytes, at least one. A nil Budget has no bound.
func NewBudget(size int) *Budget { return &Budget{size: max(size, 1)} }

// waiter is a call of take.
type waiter struct {
	bytes    int
	oversize bool       // may take the place beside the size
	ready    chan Share // of one
}

// Share is a part of a budget in somebody's hands. The zero value is no part of any.
type Share struct {
	budget   *Budget
	bytes    int
	oversize bool
}

// Take waits for room to read an answer. One that is larger than all of the budget waits until it is alone.
func (b *Budget) Take(ctx context.Context, bytes int) (Share, error) {
	if b == nil || bytes == 0 {
		return Share{}, nil
	}
	return b.wait(ctx, &waiter{bytes: min(bytes, b.size)})
}

// TryTake takes as much room as Take does, if there is so much now and nobody waits for it.
func (b *Budget) TryTake(bytes int) (Share, bool) {
	if b == nil || bytes == 0 {
		return Share{}, true
	}
	return b.Try(min(bytes, b.size))
}

// TakeOrOversize waits for room to decompress, within the budget or in the place beside it.
func (b *Budget) TakeOrOversize(ctx context.Context, bytes int) (Share, error) {
	if b == nil {
		return Share{}, nil
	}
	return b.wait(ctx, &waiter{bytes: bytes, oversize: true})
}

// Try takes room if there is some now and nobody waits for it.
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

// canFit tells those who wait for room from those who are too large for the whole budget.
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

// serve gives room in the order of arrival. Who has to wait for it keeps it from all who came later, or a large share
// would never come together; who is too large for the whole budget waits for the place beside it and keeps nothing from
// anybody.
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

// Grow takes more of the budget, up to so many bytes in all, if there is room now. A share of the whole budget is
// enough for everything.
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

// Held is how much is handed out, within the size, and whether the place beside the size is taken.
func (b *Budget) Held() (bytes int, oversize bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.used, b.oversize
}

// Shrink gives back what is beyond so many bytes.
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

// Release gives all of the share back; a second call does nothing.
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
