package kafka

import (
	"math/bits"
	"runtime"
	"sync"
	"sync/atomic"
	"weak"
)

const (
	// leastBytes and keepBytes are the smallest and the largest capacity of a buffer that is kept for later: powers of
	// two, so that one which held a large answer does not come back for a small one.
	leastBytes = 4 << 10
	keepBytes  = 1 << 20

	poolClasses = 9 // 4 KiB … 1 MiB

	// largeBytes and hugeBytes are what batches are decompressed to that do not fit into keepBytes.
	largeBytes = 8 << 20
	hugeBytes  = MaxBatchBytes + unpackSlack

	// collectBytes is where the collector runs BEFORE a buffer is made. It bounds the heap from behind: it would begin
	// when the buffer is there, beside all the garbage that was tolerable before. Buffers so large are rare, and
	// reading into one takes longer.
	collectBytes = 16 << 20
)

// buffer is memory that several Batches may alias. The last release returns it to its pool, and its share to the
// budget.
type buffer struct {
	b     []byte
	refs  atomic.Int32
	pool  *bufferPool
	share share
}

// bufferPool is ready as its zero value.
type bufferPool struct {
	free [poolClasses]sync.Pool

	mu    sync.Mutex
	large [2]weak.Pointer[buffer] // the last ones of largeBytes and hugeBytes, as long as their memory has not been collected
}

// class is the place of buffers of so many bytes, at most keepBytes.
func class(bytes int) int { return bits.Len(uint(max(bytes, leastBytes)-1)) - bits.Len(leastBytes-1) }

// capacityFor is the capacity of the buffer that get gives.
func capacityFor(bytes int) int {
	if bytes > keepBytes {
		return bytes
	}
	return leastBytes << class(bytes)
}

// get returns an empty buffer of at least so many bytes, with one reference and no share.
func (p *bufferPool) get(bytes int) *buffer {
	var b *buffer
	if bytes <= keepBytes {
		b, _ = p.free[class(bytes)].Get().(*buffer)
	} else {
		b = p.takeLarge(bytes)
	}
	if b == nil {
		if bytes >= collectBytes {
			runtime.GC()
		}
		b = &buffer{pool: p, b: make([]byte, 0, capacityFor(bytes))}
	}
	b.b = b.b[:0]
	b.refs.Store(1)
	return b
}

// takeLarge spares what bombs in a row would cost: each its own memory before that of the last is collected.
func (p *bufferPool) takeLarge(bytes int) *buffer {
	p.mu.Lock()
	defer p.mu.Unlock()
	slot := p.slot(bytes)
	if slot == nil {
		return nil
	}
	b := slot.Value()
	*slot = weak.Pointer[buffer]{}
	return b
}

func (p *bufferPool) putLarge(b *buffer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if slot := p.slot(cap(b.b)); slot != nil {
		*slot = weak.Make(b)
	}
}

// slot is the place of large buffers of a capacity, or nil.
func (p *bufferPool) slot(capacity int) *weak.Pointer[buffer] {
	switch capacity {
	case largeBytes:
		return &p.large[0]
	case hugeBytes:
		return &p.large[1]
	}
	return nil
}

func (b *buffer) retain() { b.refs.Add(1) }

// release gives a reference back. With the last one the buffer is in its pool first, so that whoever waits for the
// share finds it there; from then on it may be another's, with another share.
func (b *buffer) release() {
	if b.refs.Add(-1) != 0 {
		return
	}
	mine := b.share
	b.share = share{}
	switch c := cap(b.b); {
	case c > keepBytes:
		b.pool.putLarge(b)
	case c == capacityFor(c): // it did not grow beyond what get gave
		b.pool.free[class(c)].Put(b)
	}
	mine.release()
}
