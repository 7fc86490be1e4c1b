package records

import (
	"sync"
	"sync/atomic"
)

// DefaultPack is the size at which a Pack closes a batch. It is below a broker's default limit of 1 MiB + 12 bytes,
// with room for the batch header.
const DefaultPack = 1_000_000

// Pack is the record batches that a transaction appends to one partition, each within a limit. A record that is larger
// than the limit gets a batch of its own. The zero value is ready, and uses its own Pool.
type Pack struct {
	limit    int
	pool     *Pool
	builders []*Builder
}

// Share makes an empty pack use the memory of a pool.
func (p *Pack) Share(s *Pool) { p.pool = s }

// Limit sets the size at which batches close, at most DefaultPack. It applies to records appended afterwards.
func (p *Pack) Limit(bytes int) { p.limit = bytes }

// Append adds a record. The arguments are copied.
func (p *Pack) Append(key, value []byte, headers []Header, timestampMs int64) {
	limit := DefaultPack
	if p.limit > 0 {
		limit = min(limit, p.limit)
	}
	last := len(p.builders) - 1
	if last < 0 || p.builders[last].Count() > 0 && p.builders[last].Bytes()+RecordBytes(key, value, headers) > limit {
		if p.pool == nil {
			p.pool = NewPool()
		}
		p.builders = append(p.builders, p.pool.take())
		last++
	}
	b := p.builders[last]
	before := b.Bytes()
	b.Append(key, value, headers, timestampMs)
	p.pool.held.Add(int64(b.Bytes() - before))
}

// Batches returns the batches of the pack, in order.
func (p *Pack) Batches() []*Builder { return p.builders }

// Bytes returns the size of all batches.
func (p *Pack) Bytes() (n int) {
	for _, b := range p.builders {
		n += b.Bytes()
	}
	return n
}

// Reset empties the pack, and keeps its limit.
func (p *Pack) Reset() {
	for len(p.builders) > 0 {
		p.Drop()
	}
}

// Drop removes the first batch.
func (p *Pack) Drop() {
	p.pool.put(p.builders[0])
	p.builders = append(p.builders[:0], p.builders[1:]...)
}

const (
	// RecordOverhead bounds the bytes of a record in a batch without its key, value and headers.
	RecordOverhead = 32

	// BatchOverhead is the length of a batch without its records.
	BatchOverhead = HeaderLen
)

// RecordBytes bounds the bytes of a record in a batch.
func RecordBytes(key, value []byte, headers []Header) int {
	size := len(key) + len(value) + RecordOverhead
	for _, h := range headers {
		size += len(h.Key) + len(h.Value) + 10
	}
	return size
}

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
