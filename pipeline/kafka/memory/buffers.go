package memory

import (
	"math/bits"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"weak"

	"oriel/pipeline/kafka/records"
)

const (
	// LeastBytes and KeepBytes are the smallest and the largest capacity of a buffer that is kept for later. Capacities
	// are powers of two, so that a buffer for a large answer is not used for a small one.
	LeastBytes = 4 << 10
	KeepBytes  = 1 << 20

	poolClasses = 9 // capacities 4 KiB … 1 MiB

	// LargeBytes and HugeBytes are capacities for decompressed batches that do not fit into KeepBytes.
	LargeBytes = 8 << 20
	HugeBytes  = records.MaxBatchBytes + records.UnpackSlack

	// collectBytes is the size from which free memory is returned to the system BEFORE a buffer is made. Otherwise the
	// collector would start only after the buffer exists, so that memory for the buffer and for all garbage would be
	// needed together. Besides, small objects may have been placed in the memory of an earlier buffer, so that the new
	// buffer would need new pages. Buffers of this size are rare, and filling one takes longer than the collection.
	collectBytes = 16 << 20
)

// Buffer is memory that several Batches may refer to. The last Release returns the buffer to its pool and its share to
// the budget.
type Buffer struct {
	B     []byte
	refs  atomic.Int32
	pool  *Pool
	Share Share
}

// Pool keeps buffers for later. Its zero value is ready.
type Pool struct {
	free [poolClasses]sync.Pool

	// The arrays of the last large buffers, as long as the collector has not freed them. The pool keeps arrays, not
	// buffers, because a record that is still in use keeps only its array alive.
	mu    sync.Mutex
	large weak.Pointer[[LargeBytes]byte]
	huge  weak.Pointer[[HugeBytes]byte]
}

// class returns the pool index of buffers of at least this size, at most KeepBytes.
func class(bytes int) int { return bits.Len(uint(max(bytes, LeastBytes)-1)) - bits.Len(LeastBytes-1) }

// CapacityFor returns the capacity of the buffer that Get returns.
func CapacityFor(bytes int) int {
	if bytes > KeepBytes {
		return bytes
	}
	return LeastBytes << class(bytes)
}

// Get returns an empty buffer with a capacity of at least bytes, with one reference and no share.
func (p *Pool) Get(bytes int) *Buffer {
	var b *Buffer
	if bytes <= KeepBytes {
		b, _ = p.free[class(bytes)].Get().(*Buffer)
	}
	if b == nil {
		b = &Buffer{pool: p, B: p.take(bytes)}
	}
	b.B = b.B[:0]
	b.refs.Store(1)
	return b
}

// take returns memory for a new buffer.
func (p *Pool) take(bytes int) []byte {
	if kept := p.takeLarge(bytes); kept != nil {
		return kept
	}
	if bytes >= collectBytes {
		debug.FreeOSMemory()
	}
	return make([]byte, 0, CapacityFor(bytes))
}

// takeLarge reuses the last large array, so that successive decompression bombs do not each take new memory before the
// previous array is collected.
func (p *Pool) takeLarge(bytes int) []byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch bytes {
	case LargeBytes:
		if kept := p.large.Value(); kept != nil {
			p.large = weak.Pointer[[LargeBytes]byte]{}
			return kept[:]
		}
	case HugeBytes:
		if kept := p.huge.Value(); kept != nil {
			p.huge = weak.Pointer[[HugeBytes]byte]{}
			return kept[:]
		}
	}
	return nil
}

func (p *Pool) putLarge(b []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch cap(b) {
	case LargeBytes:
		p.large = weak.Make((*[LargeBytes]byte)(b[:LargeBytes]))
	case HugeBytes:
		p.huge = weak.Make((*[HugeBytes]byte)(b[:HugeBytes]))
	}
}

// Retain adds a reference.
func (b *Buffer) Retain() { b.refs.Add(1) }

// Release removes a reference. The last Release first puts the buffer into its pool, so that a Reader that waits for
// the share finds it there. From then on the buffer may belong to another Reader, with another share.
func (b *Buffer) Release() {
	if b.refs.Add(-1) != 0 {
		return
	}
	mine := b.Share
	b.Share = Share{}
	switch c := cap(b.B); {
	case c > KeepBytes:
		b.pool.putLarge(b.B)
	case c == CapacityFor(c): // still the capacity that Get gave
		b.pool.free[class(c)].Put(b)
	}
	mine.Release()
}
