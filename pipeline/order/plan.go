package order

import (
	"slices"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

const (
	// entryOffsets is the largest number of offsets that one entry adds. If the input is far ahead of the order,
	// partitions take turns after this many records: some milliseconds of work. Half as many would double the order log
	// of an input that is read from its beginning; twice as many would make partitions wait longer for their turn.
	entryOffsets = 4096

	// requestBytes is the size at which a request closes: a quarter of the default max.message.bytes. With 200
	// partitions it orders 150 million offsets; the next tick orders the remaining ones.
	requestBytes = 256 << 10
)

// appendRecords appends to b the order records that advance a vector to the ends of the input, as far as they fit into
// one request, and returns how many offsets of the input they add. The ends ascend by partition.
func (l Log) appendRecords(
	b *records.Builder, at, start *state.Ordered, ends []topics.End, timestampMs int64,
) (offsets int64) {
	next := make([]int64, len(ends))
	for i, e := range ends {
		part := Place(at, start, e.Partition)
		if next[i] = part.Next; e.Epoch < max(part.Ordered, 0) {
			next[i] = e.Offset // an entry of an older epoch would be void
		}
	}
	var entries []Entry
	var value []byte
	for b.Bytes() < requestBytes {
		entries = entries[:0]
		for i, e := range ends {
			if next[i] < e.Offset {
				end := min(next[i]+entryOffsets, e.Offset)
				offsets += end - next[i]
				next[i] = end
				entries = append(entries, Entry{Partition: e.Partition, End: end, Epoch: e.Epoch})
			}
		}
		if len(entries) == 0 {
			break
		}
		for some := range slices.Chunk(entries, MaxEntries) {
			value = l.Append(value[:0], some)
			b.Append(nil, value, nil, timestampMs)
		}
	}
	return offsets
}
