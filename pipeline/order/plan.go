package order

import (
	"slices"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

const (
	// entryOffsets is how far an entry goes beyond what is ordered, at most. It is how much of a partition comes before
	// the next one's turn where the input is far ahead: some milliseconds of work. Half of it would make the order log of
	// an input that is read from its beginning twice as large; double would let a partition wait longer for its turn.
	entryOffsets = 4096

	// requestBytes closes a request: what a topic with the default max.message.bytes takes, four times over. With 200
	// partitions that is the order of 150 million offsets; what is left over is the next tick's.
	requestBytes = 256 << 10
)

// appendRecords appends to b the order records that bring a vector to the ends of the input, as far as fits in one
// request, and returns how many offsets of the input that adds. The ends ascend by partition.
func (l Log) appendRecords(
	b *records.Builder, at, start *state.Ordered, ends []topics.End, timestampMs int64,
) (offsets int64) {
	next := make([]int64, len(ends))
	for i, e := range ends {
		part := Place(at, start, e.Partition)
		if next[i] = part.Next; e.Epoch < max(part.Ordered, 0) {
			next[i] = e.Offset // its entry would be void
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
