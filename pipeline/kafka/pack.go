package kafka

import "context"

// DefaultPack closes a batch of a Pack: a broker's default limit is 1 MiB + 12, and a batch has a header of its own.
const DefaultPack = 1_000_000

// Pack is what a transaction appends to one partition: record batches, each within a limit, reused from transaction to
// transaction. A record that is larger by itself gets a batch of its own. Its zero value is ready.
type Pack struct {
	limit    int
	builders []*Builder
	used     int
	bytes    int
}

// Limit closes batches at so many bytes, or at DefaultPack if that is less. It holds for the records that follow.
func (p *Pack) Limit(bytes int) { p.limit = bytes }

// Append adds a record. The arguments are copied.
func (p *Pack) Append(key, value []byte, headers []Header, timestampMs int64) {
	limit := DefaultPack
	if p.limit > 0 {
		limit = min(limit, p.limit)
	}
	size := RecordBytes(key, value, headers)
	if p.used == 0 || (p.builders[p.used-1].Bytes()+size > limit && p.builders[p.used-1].Count() > 0) {
		if p.used == len(p.builders) {
			p.builders = append(p.builders, new(Builder))
		}
		p.used++
	}
	p.builders[p.used-1].Append(key, value, headers, timestampMs)
	p.bytes += size
}

// Batches are those in use.
func (p *Pack) Batches() []*Builder { return p.builders[:p.used] }

// Bytes bounds the size of all records.
func (p *Pack) Bytes() int { return p.bytes }

// Reset empties the pack and keeps its memory and its limit.
func (p *Pack) Reset() {
	for _, b := range p.Batches() {
		b.Reset()
	}
	p.used, p.bytes = 0, 0
}

const (
	// RecordOverhead bounds what a record takes in a batch beside its key, value and headers.
	RecordOverhead = 32

	// BatchOverhead is what a batch takes beside its records.
	BatchOverhead = batchHeaderLen
)

// RecordBytes bounds what a record takes in a batch.
func RecordBytes(key, value []byte, headers []Header) int {
	size := len(key) + len(value) + RecordOverhead
	for _, h := range headers {
		size += len(h.Key) + len(h.Value) + 10
	}
	return size
}

// ProduceAll appends a pack to a partition, batch by batch, as Produce does. It returns the offset after the last
// record: −1 if the pack is empty, or if only a repeat of its last batch was answered.
func (p *Producer) ProduceAll(ctx context.Context, topic string, partition int32, pack *Pack) (next int64, err error) {
	next = -1
	for _, b := range pack.Batches() {
		base, err := p.Produce(ctx, topic, partition, b)
		if err != nil {
			return -1, err
		}
		if next = -1; base >= 0 {
			next = base + int64(b.Count())
		}
	}
	return next, nil
}
