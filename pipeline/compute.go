package pipeline

import (
	"context"
	"time"

	"oriel/mechanisms/noise"
	"oriel/pipeline/kafka"
	"oriel/schemas"
	"oriel/state"
)

// computer steps over fetched records and fills segments. It is the only user of its stream; what it computed and the
// committer has not taken is lost with it, and no harm done.
type computer struct {
	task     *task
	stream   *Stream
	sealer   *state.Sealer
	position state.Position // after the last record taken
	sent     int64          // position.Next of the last segment handed on
	segment  *segment       // nil while both segments are with the committer
	segments chan<- *segment
	free     chan *segment
	key      []byte
	private  []byte
	now      int64 // timestamp of records produced, ms; taken once a batch, so that no event's own time shows
	emit     func(line []byte)
}

// run ends when batches closes: then everything taken is handed on.
func (c *computer) run(work context.Context, batches <-chan *kafka.Batch) {
	config := c.task.service.config
	c.sent, c.key = c.position.Next, []byte(c.task.stream)
	c.emit = func(line []byte) { c.segment.decide(c.key, line, c.now) }
	c.segment = <-c.free
	ticks := time.NewTicker(config.CommitInterval)
	defer ticks.Stop()
	for due := false; ; {
		select {
		case batch, open := <-batches:
			if !open {
				c.hand(true)
				return
			}
			c.take(work, batch, config.TransactionBytes)
			batch.Release()
			select {
			case <-ticks.C:
				due = true
			default:
			}
		case <-ticks.C:
			due = true
		}
		if due {
			due = !c.hand(false)
		}
	}
}

// take steps over a batch. It stops early when work has ended: the rest is fetched again by the next owner.
func (c *computer) take(work context.Context, batch *kafka.Batch, limit int) {
	t, maxBytes := c.task, c.task.service.model.Events.MaxBytes
	c.now = time.Now().UnixMilli()
	id := noise.Identity{Topic: c.position.Topic, Partition: t.partition}
	for i := range batch.Records {
		r := &batch.Records[i]
		id.Offset, id.LeaderEpoch = r.Offset, r.LeaderEpoch
		if code := c.stream.Take(id, r.Value, r.Unreadable, c.emit); code != schemas.OK {
			c.segment.letter(t.service.config.Input, t.partition, r, code, maxBytes, c.now)
		}
		c.segment.records++
		c.segment.taken += recordBytes(r.Key, r.Value, r.Headers)
		c.position.Next, c.position.LeaderEpoch = r.Offset+1, r.LeaderEpoch
		if c.segment.bytes() >= limit {
			c.segment.end = batch.Stable
			c.hand(true)
		}
		if i%256 == 255 && work.Err() != nil {
			return
		}
	}
	c.position.Next = max(c.position.Next, batch.Next)
	c.segment.end = batch.Stable
}

// hand gives the segment to the committer. Unless force, it keeps filling the segment while a commit is under way. It
// reports whether nothing is left to hand on.
func (c *computer) hand(force bool) bool {
	if c.position.Next == c.sent {
		return true
	}
	if !force && len(c.free) == 0 { // the committer holds the other segment
		return false
	}
	before := c.position.Step
	c.position.Step = c.stream.Steps()
	c.private = c.stream.AppendState(c.private[:0])
	c.segment.position = c.position
	c.segment.steps = c.position.Step - before
	c.segment.sealed = c.sealer.Seal(c.segment.sealed[:0], c.position, c.private)
	c.segments <- c.segment
	c.sent = c.position.Next
	c.segment = <-c.free
	return true
}
