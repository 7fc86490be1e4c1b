package merge

import (
	"context"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/order"
	"oriel/state"
)

// Source is what a stream reads: its partition of the input, or all of them as one log.
type Source interface {
	// Fetch returns the records that follow, as fetch.Reader.Fetch does.
	Fetch(ctx context.Context) (*fetch.Batch, error)

	// Close gives back what the Source holds. Batches that it returned stay valid until their Release.
	Close()
}

// Open returns what the stream of a partition reads from a position on: a fetch.Reader, or a Reader of the whole topic.
// key authenticates order records, and start is where the stream of the whole topic began; both are not used for the
// stream of one partition. The topic and the epoch of o are those of the position.
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
