package records

// DefaultPack closes a batch of a Pack: a broker's default limit is 1 MiB + 12, and a batch has a header of its own.
const DefaultPack = 1_000_000

// Pack is the record batches that a transaction appends to one partition, each within a limit. A record that is larger
// than the limit gets a batch of its own. Its zero value is ready, with a Pool of its own.
type Pack struct {
	limit    int
	pool     *Pool
	builders []*Builder
}

// Share makes an empty pack take its memory from a pool, and give it back there.
func (p *Pack) Share(s *Pool) { p.pool = s }

// Limit closes batches at so many bytes, or at DefaultPack if that is less. It holds for the records that follow.
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
	// RecordOverhead bounds what a record takes in a batch beside its key, value and headers.
	RecordOverhead = 32

	// BatchOverhead is what a batch takes beside its records.
	BatchOverhead = HeaderLen
)

// RecordBytes bounds what a record takes in a batch.
func RecordBytes(key, value []byte, headers []Header) int {
	size := len(key) + len(value) + RecordOverhead
	for _, h := range headers {
		size += len(h.Key) + len(h.Value) + 10
	}
	return size
}
