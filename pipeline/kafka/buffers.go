package kafka

import (
	"sync"
	"sync/atomic"
)

// keepBytes is the largest buffer worth keeping: rare giants go to the garbage collector.
const keepBytes = 4 << 20

// buffer is memory that several Batches may alias. The last release returns it to its pool.
type buffer struct {
	b    []byte
	refs atomic.Int32
	pool *bufferPool
}

// bufferPool is ready as its zero value.
type bufferPool struct{ free sync.Pool }

// get returns an empty buffer with one reference.
func (p *bufferPool) get() *buffer {
	b, _ := p.free.Get().(*buffer)
	if b == nil {
		b = &buffer{pool: p}
	}
	b.b = b.b[:0]
	b.refs.Store(1)
	return b
}

func (b *buffer) retain() { b.refs.Add(1) }

func (b *buffer) release() {
	if b.refs.Add(-1) == 0 && cap(b.b) <= keepBytes {
		b.pool.free.Put(b)
	}
}
