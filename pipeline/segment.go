package pipeline

import (
	"oriel/pipeline/kafka"
	"oriel/state"
)

// batchBytes closes a record batch: the broker's default limit is 1 MiB + 12, and a batch has headers of its own. A record
// that is larger by itself gets a batch of its own.
const batchBytes = 1_000_000

// segment is everything that one transaction will make readable, in the order it was computed.
type segment struct {
	decisions batches
	verdicts  []byte         // of each offset since the segment before
	rows      batches        // the verdicts, sealed
	row       []byte         // one of them, under construction
	position  state.Position // after the last record taken
	sealed    []byte         // state at position
	records   int
	taken     int // bytes of the records taken, whatever is in them: public
	count     int // decisions
	steps     uint64
	end       int64 // end of the input when its last records were fetched
}

func (g *segment) reset() {
	g.decisions.reset()
	g.rows.reset()
	g.verdicts = g.verdicts[:0]
	g.sealed = g.sealed[:0]
	g.records, g.taken, g.count, g.steps = 0, 0, 0, 0
}

// bytes bounds the segment's output by public sizes: where a transaction closes must not tell what records were.
func (g *segment) bytes() int { return g.decisions.bytes + g.taken + len(g.verdicts) }

// decide adds one decision; its line is copied.
func (g *segment) decide(stream, line []byte, now int64) {
	g.decisions.append(stream, line, nil, now)
	g.count++
}

// batches are record batches for one partition, each within the broker's limit, reused from transaction to transaction.
type batches struct {
	builders []*kafka.Builder
	used     int
	bytes    int
}

func (b *batches) append(key, value []byte, headers []kafka.Header, now int64) {
	size := recordBytes(key, value, headers)
	if b.used == 0 || (b.builders[b.used-1].Bytes()+size > batchBytes && b.builders[b.used-1].Count() > 0) {
		if b.used == len(b.builders) {
			b.builders = append(b.builders, new(kafka.Builder))
		}
		b.used++
	}
	b.builders[b.used-1].Append(key, value, headers, now)
	b.bytes += size
}

// recordOverhead bounds what a record takes beside its key, value and headers.
const recordOverhead = 32

// recordBytes bounds what a record takes in a batch.
func recordBytes(key, value []byte, headers []kafka.Header) int {
	size := len(key) + len(value) + recordOverhead
	for _, h := range headers {
		size += len(h.Key) + len(h.Value) + 10
	}
	return size
}

func (b *batches) all() []*kafka.Builder { return b.builders[:b.used] }

func (b *batches) reset() {
	for _, builder := range b.all() {
		builder.Reset()
	}
	b.used, b.bytes = 0, 0
}
