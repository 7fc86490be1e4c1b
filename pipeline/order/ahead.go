package order

import (
	"context"
	"fmt"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// Ahead reads the order log from a position to its end, and returns the ranges after the position, in order. Adjacent
// ranges of one partition and epoch are joined. The input must still have their records.
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
