package kafka

import (
	"math/bits"
	"runtime/debug"
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

	// collectBytes is where free memory goes back to the system BEFORE a buffer is made. It bounds the process from
	// behind: the collector would begin when the buffer is there, beside all the garbage that was tolerable before; and
	// where an earlier buffer was, small objects may lie by then, so that the new one is mapped beside its pages.
	// Buffers so large are rare, and reading into one takes longer.
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

	// What was decompressed into last, as long as the memory has not been collected. The arrays themselves, not the
	// buffers around them: a record that somebody has not let go of keeps an array and no buffer.
	mu    sync.Mutex
	large weak.Pointer[[largeBytes]byte]
	huge  weak.Pointer[[hugeBytes]byte]
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
	}
	if b == nil {
		b = &buffer{pool: p, b: p.take(bytes)}
	}
	b.b = b.b[:0]
	b.refs.Store(1)
	return b
}

// take returns memory for a new buffer.
func (p *bufferPool) take(bytes int) []byte {
	if kept := p.takeLarge(bytes); kept != nil {
		return kept
	}
	if bytes >= collectBytes {
		debug.FreeOSMemory()
	}
	return make([]byte, 0, capacityFor(bytes))
}

// takeLarge spares what bombs in a row would cost: each its own memory before that of the last is collected.
func (p *bufferPool) takeLarge(bytes int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch bytes {
	case largeBytes:
		if kept := p.large.Value(); kept != nil {
			p.large = weak.Pointer[[largeBytes]byte]{}
			return kept[:]
		}
	case hugeBytes:
		if kept := p.huge.Value(); kept != nil {
			p.huge = weak.Pointer[[hugeBytes]byte]{}
			return kept[:]
		}
	}
	return nil
}

func (p *bufferPool) putLarge(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch cap(b) {
	case largeBytes:
		p.large = weak.Make((*[largeBytes]byte)(b[:largeBytes]))
	case hugeBytes:
		p.huge = weak.Make((*[hugeBytes]byte)(b[:hugeBytes]))
	}
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
		b.pool.putLarge(b.b)
	case c == capacityFor(c): // it did not grow beyond what get gave
		b.pool.free[class(c)].Put(b)
	}
	mine.release()
}
