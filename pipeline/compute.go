package pipeline

import (
	"context"
	"fmt"
	"time"

	"oriel/mechanisms/noise"
	"oriel/pipeline/kafka"
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
	memory   int // segments close at so many bytes of what they hold,
	input    int // and of what they are over
	key      []byte
	private  []byte
	now      int64 // timestamp of the segment's records, ms: a commit tick, so that no event's own time shows
	emit     func(line []byte)
}

// run ends when batches closes: then everything taken is handed on. Once work has ended, what is still fetched is let go
// untaken: the next owner fetches it again, from where the state ends. It ends with an error before a record that must not be
// taken; everything before it is handed on.
func (c *computer) run(work context.Context, batches <-chan *kafka.Batch) error {
	config := c.task.service.config
	c.sent, c.key = c.position.Next, []byte(c.task.stream)
	c.emit = func(line []byte) { c.segment.decide(c.key, line, c.now) }
	c.segment, c.now = <-c.free, time.Now().UnixMilli()
	ticks := time.NewTicker(config.CommitInterval)
	defer ticks.Stop()
	for due := false; ; {
		select {
		case batch, open := <-batches:
			if !open {
				c.hand(true)
				return nil
			}
			var err error
			if work.Err() == nil {
				err = c.take(work, batch)
			}
			batch.Release()
			if err != nil {
				c.hand(true)
				return err
			}
			select {
			case now := <-ticks.C:
				due = c.tick(now)
			default:
			}
		case now := <-ticks.C:
			due = c.tick(now)
		}
		if due {
			due = !c.hand(false)
		}
	}
}

// tick stamps the segment, unless records have been stamped already.
func (c *computer) tick(now time.Time) bool {
	if c.segment.records == 0 {
		c.now = now.UnixMilli()
	}
	return true
}

// take steps over a batch, which must start where the last one ended: an event left out would be a second history. It stops
// early when work has ended, and with an error before a record that must not be taken.
func (c *computer) take(work context.Context, batch *kafka.Batch) error {
	if batch.From != c.position.Next {
		panic(fmt.Sprintf("BUG: pipeline: batch starts at offset %d, the state stands at %d", batch.From, c.position.Next))
	}
	t := c.task
	in := Input{Identity: noise.Identity{Topic: c.position.Topic, Partition: t.partition}}
	c.segment.end = batch.Stable
	for i := range batch.Records {
		if c.stream.Ended() {
			return ended(t.partition, c.stream.horizon)
		}
		r := &batch.Records[i]
		in.Identity.Offset, in.Identity.LeaderEpoch = r.Offset, r.LeaderEpoch
		in.Value, in.Unreadable, in.User = r.Value, r.Unreadable, c.stream.User(r)
		c.stream.Forget()
		if err := t.service.sightings.see(t.partition, in.User); err != nil {
			return err
		}
		c.segment.judge(r.Offset-c.position.Next, c.stream.Take(in, c.emit))
		c.segment.records++
		c.segment.taken += r.Length + kafka.RecordOverhead
		c.position.Next, c.position.LeaderEpoch = r.Offset+1, r.LeaderEpoch
		if c.segment.full(c.memory, c.input) {
			c.hand(true)
			c.segment.end = batch.Stable
		}
		if i%256 == 255 && work.Err() != nil {
			return nil
		}
	}
	c.segment.pass(batch.Next - c.position.Next)
	c.position.Next, c.position.LeaderEpoch = batch.Next, batch.LeaderEpoch
	if c.segment.full(c.memory, c.input) {
		c.hand(true)
	}
	return nil
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
	c.close()
	c.segments <- c.segment
	c.sent = c.position.Next
	c.segment, c.now = <-c.free, time.Now().UnixMilli()
	return true
}

// close completes the segment: the state at its end, and its verdicts, which start where the segment before ended.
func (c *computer) close() {
	before := c.position.Step
	c.position.Step = c.stream.Steps()
	c.private = c.stream.AppendState(c.private[:0])
	c.segment.position = c.position
	c.segment.steps = c.position.Step - before
	c.segment.sealed = c.sealer.Seal(c.segment.sealed[:0], c.position, c.private)
	c.segment.seal(c.sealer, c.sent, c.now)
}
