package order

import (
	"context"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// DefaultGrace is the time from the end of a slot until an order record may close it. Brokers whose clocks differ by
// less, and that acknowledge a record within this time, never put a record into a closed slot. A shorter grace would
// put more records into the slot after their own; a longer one would make steps by the clock wait longer.
const DefaultGrace = 2 * time.Second

// ended returns the last slot that has ended a grace before a time.
func ended(now time.Time, grace time.Duration) int64 {
	return max(0, now.Add(-grace).UnixMilli()/slotMs-1)
}

// moved returns the entries that move a vector to the ends of the input, and how many offsets they add. Ends ascend by
// partition. A partition whose leader is older than the vector's keeps its end, because the entry would order nothing.
func moved(at, start *state.Ordered, ends []topics.End) (entries []Entry, offsets int64) {
	for _, e := range ends {
		part := Place(at, start, e.Partition)
		if e.Offset > part.End && e.Epoch >= max(part.Ordered, 0) && len(entries) < MaxEntries {
			entries = append(entries, Entry{Partition: e.Partition, End: e.Offset, Epoch: e.Epoch})
			offsets += e.Offset - part.End
		}
	}
	return entries, offsets
}

// Ahead reads the order log from a position to its end, and returns the ranges of the input after the position that the
// log names, in the order of the log. Adjacent ranges of one partition and epoch are joined. The input must still have
// their records. With steps by the clock, a part of the last ranges may wait for a later order record.
func (l Log) Ahead(
	ctx context.Context, c *kafka.Client, topic topics.Topic, at, start *state.Ordered,
) (ahead []Range, err error) {
	bounds, err := topics.BoundsOf(ctx, c, topic.Name, 0)
	if err != nil {
		return nil, fmt.Errorf("order: bounds of %s: %w", topic.Name, err)
	}
	f := l.Follow(c, topic, at, start)
	defer f.Close()
	last := map[int32]int{} // index in ahead of each partition's newest range
	for _, part := range at.Parts {
		if part.Next < part.End {
			last[part.Partition] = len(ahead)
			ahead = append(ahead, Range{Partition: part.Partition, From: part.Next, To: part.End, Epoch: part.Ordered})
		}
	}
	for f.At().Next < bounds.High {
		ranges, _, err := f.Read(ctx)
		if err != nil {
			return nil, fmt.Errorf("order: read %s: %w", topic.Name, err)
		}
		for _, r := range ranges {
			i, met := last[r.Partition]
			if met && ahead[i].Epoch == r.Epoch {
				ahead[i].To = r.To
				continue
			}
			last[r.Partition] = len(ahead)
			ahead = append(ahead, r)
		}
	}
	return ahead, nil
}
