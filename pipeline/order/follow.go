package order

import (
	"context"
	"errors"
	"fmt"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// readBytes is the memory of one reader of an order log: twice the largest answer. It must not come from the budget of
// the input's readers, because they may hold records that are not ordered yet, and then wait for the order.
const readBytes = 2 << 20

// Follower reads an order log from a position on. It is not safe for concurrent use.
type Follower struct {
	log    Log
	reader *fetch.Reader
	at     *state.Ordered
	start  *state.Ordered
	ranges []Range

	// Refused is the number of records so far that Parse refuses. A deployment never writes such records, so they come
	// from other clients.
	Refused int

	// Void is the number of the deployment's own records so far that do not count, and Voids is for how long.
	Void  int
	Voids Voids

	// Time is the broker's time of the last record.
	Time time.Time
}

// Follow returns a Follower that starts at position at; the stream began at start. topic is the order log.
func (l Log) Follow(c *kafka.Client, topic topics.Topic, at, start *state.Ordered) *Follower {
	return &Follower{log: l, at: at.Clone(), start: start, reader: l.Reader(c, topic.Name, at)}
}

// Reader reads the records of an order log from a position on, with records of open and aborted transactions. All
// readers must read the same records, and a writer that leaves a transaction open must not be able to stop them. A
// compacted log is refused (kafka.ErrHole), because without the missing records the order would be different.
func (l Log) Reader(c *kafka.Client, topic string, at *state.Ordered) *fetch.Reader {
	return fetch.NewReader(c, topic, 0, at.Next, fetch.Options{
		ID: l.Topic, Uncommitted: true, LastEpoch: &at.LeaderEpoch, Budget: memory.NewBudget(readBytes),
		Whole: true,
	})
}

// Close frees the Follower's memory.
func (f *Follower) Close() { f.reader.Close() }

// At returns the Follower's position: the starting position, with the ends and the slot of all order records that Read
// has met. It is valid until the next Read.
func (f *Follower) At() *state.Ordered { return f.at }

// Read waits a short time for order records and returns the ranges that they add to the order, valid until the next
// Read; high is the end of the log. Errors are those of fetch.Reader, and ErrFormat.
func (f *Follower) Read(ctx context.Context) (ranges []Range, high int64, err error) {
	batch, err := f.reader.Fetch(ctx)
	if err != nil {
		return nil, 0, err
	}
	defer batch.Release()
	f.ranges = f.ranges[:0]
	for i := range batch.Records {
		r := &batch.Records[i]
		record, err := f.log.Parse(r.Value)
		f.Time = time.UnixMilli(r.Timestamp)
		counts := err == nil && record.Counts(f.at, r.Public)
		if err == nil {
			f.Voids.Take(counts, record.Late(f.at), f.Time)
		}
		switch {
		case errors.Is(err, ErrFormat):
			return nil, 0, fmt.Errorf("%w: offset %d", err, r.Offset)
		case err != nil:
			f.Refused++
		case !counts:
			f.Void++
		default:
			f.ranges = Enter(f.ranges, f.at, f.start, record.Entries)
			f.log.Leave(f.at, record.Slot)
		}
	}
	f.at.Next, f.at.LeaderEpoch = batch.Next, batch.LeaderEpoch
	return f.ranges, batch.High, nil
}
