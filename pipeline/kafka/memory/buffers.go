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

	poolClasses = 9 // 4 KiB … 1 MiB

	// LargeBytes and HugeBytes are capacities for decompressed batches that do not fit into KeepBytes.
	LargeBytes = 8 << 20
	HugeBytes  = records.MaxBatchBytes + records.UnpackSlack

	// collectBytes is the size from which free memory is returned to the system BEFORE a buffer is made. Otherwise the
	// collector would begin only after the buffer exists, beside all the garbage that was tolerable before. And small
	// objects may lie where an earlier buffer was, so that the new buffer would need new pages. Buffers of this size
	// are rare, and reading into one takes longer than the collection.
	collectBytes = 16 << 20
)

// Buffer is memory that several Batches may refer to. The last release returns it to its pool, and its share to the
// budget.
type Buffer struct {
	B     []byte
	refs  atomic.Int32
	pool  *Pool
	Share Share
}

// Pool keeps buffers for later. Its zero value is ready.
type Pool struct {
	free [poolClasses]sync.Pool

	// The arrays of the last large buffers, as long as the collector has not freed them. They are the arrays and not
	// the buffers, because a record that is still referred to keeps an array alive and no buffer.
	mu    sync.Mutex
	large weak.Pointer[[LargeBytes]byte]
	huge  weak.Pointer[[HugeBytes]byte]
}

// class is the index of buffers of a size of at most KeepBytes.
func class(bytes int) int { return bits.Len(uint(max(bytes, LeastBytes)-1)) - bits.Len(LeastBytes-1) }

// CapacityFor is the capacity of the buffer that Get gives.
func CapacityFor(bytes int) int {
	if bytes > KeepBytes {
		return bytes
	}
	return LeastBytes << class(bytes)
}

// Get returns an empty buffer of at least so many bytes, with one reference and no share.
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

// takeLarge reuses the last large array, so that several bombs in a row do not each take new memory before the last is
// collected.
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

// Retain takes one more reference.
func (b *Buffer) Retain() { b.refs.Add(1) }

// Release gives a reference back. The last one puts the buffer into its pool first, so that a Reader that waits for the
// share finds it there. From then on the buffer may belong to another Reader, with another share.
func (b *Buffer) Release() {
	if b.refs.Add(-1) != 0 {
		return
	}
	mine := b.Share
	b.Share = Share{}
	switch c := cap(b.B); {
	case c > KeepBytes:
		b.pool.putLarge(b.B)
	case c == CapacityFor(c): // it did not grow beyond what Get gave
		b.pool.free[class(c)].Put(b)
	}
	mine.Release()
}
