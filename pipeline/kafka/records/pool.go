package records

import (
	"sync"
	"sync/atomic"
)

// Pool is memory that packs share: unused builders, and a count of the bytes in all packs. So the transaction that is
// being filled takes over the memory of the previous one, batch by batch, as brokers acknowledge them. It is safe for
// concurrent use; the packs are not.
type Pool struct {
	held  atomic.Int64
	freed chan struct{}

	mu       sync.Mutex
	builders []*Builder
}

// NewPool returns an empty pool.
func NewPool() *Pool { return &Pool{freed: make(chan struct{}, 1)} }

// Bytes returns the size of all records in the packs that share the pool.
func (s *Pool) Bytes() int { return int(s.held.Load()) }

// Freed receives an element when Bytes has decreased since the last receive.
func (s *Pool) Freed() <-chan struct{} { return s.freed }

// take returns an empty builder.
func (s *Pool) take() *Builder {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.builders) - 1
	if last < 0 {
		return new(Builder)
	}
	b := s.builders[last]
	s.builders = s.builders[:last]
	return b
}

// put empties a builder.
func (s *Pool) put(b *Builder) {
	s.held.Add(-int64(b.Bytes()))
	b.Reset()
	s.mu.Lock()
	s.builders = append(s.builders, b)
	s.mu.Unlock()
	select {
	case s.freed <- struct{}{}:
	default:
	}
}
