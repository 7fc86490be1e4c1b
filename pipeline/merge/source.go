package merge

import (
	"context"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/order"
	"oriel/state"
)

// Source is the input of a stream: one partition, or all partitions as one log.
type Source interface {
	// Fetch returns the next records, as fetch.Reader.Fetch does.
	Fetch(ctx context.Context) (*fetch.Batch, error)

	// Close releases the memory of the Source. Batches that it returned stay valid until their Release.
	Close()
}

// Open returns the Source of a partition's stream from a position on: a fetch.Reader, or a Reader of the whole topic.
// key authenticates order records, and start is where the stream of the whole topic began. For the stream of one
// partition neither is used. Open replaces the topic id and the epoch in o by the position's.
func Open(
	c *kafka.Client, config deployment.Config, partition int32, key [32]byte, start *state.Ordered, at state.Position,
	o fetch.Options,
) Source {
	o.ID = at.Topic
	if config.WholeTopic() {
		o.LastEpoch = nil
		log := order.Log{Key: key, Topic: at.Order.Log, Input: at.Topic}
		return NewReader(c, Topics{Input: config.Input, Order: config.Order}, log, start, at, o)
	}
	o.LastEpoch = &at.LeaderEpoch
	return fetch.NewReader(c, config.Input, partition, at.Next, o)
}
