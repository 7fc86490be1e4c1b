package pipeline

import (
	"context"
	"errors"
	"math"
	"time"

	"oriel/pipeline/kafka"
	"oriel/schemas"
	"oriel/state"
)

// computer walks over fetched records and fills segments. It is the only user of its stream; what it computed and the
// committer has not taken is lost with it, and no harm done.
type computer struct {
	task     *task
	walk     *Walk
	sealer   *state.Sealer
	sent     state.Position // where the last segment handed on ends
	segment  *segment       // nil while both segments are with the committer
	segments chan<- *segment
	free     chan *segment
	memory   int // a segment closes when both hold so many bytes,
	input    int // or when it is over so many
	private  []byte
	now      int64 // timestamp of the segment's records, ms: a commit tick, so that no event's own time shows
}

// newComputer starts at the state of a partition that is owned.
func (t *task) newComputer(o *ownedPartition) *computer {
	c := &computer{task: t, sealer: o.sealer, sent: o.position}
	c.walk = &Walk{
		Stream: o.stream, Partition: t.partition, Position: o.position, users: &t.service.users,
		Decided: func(output uint8, key, line []byte) { c.segment.decide(output, key, line, c.now) },
		Taken: func(r *kafka.Record, gap int64, code schemas.Code) {
			c.segment.setStatus(gap, code)
			c.segment.add(r.Public)
		},
	}
	return c
}

// run ends when batches closes: then everything taken is handed on. Once work has ended, what is still fetched is let
// go untaken: the next owner fetches it again, from where the state ends. It ends with an error before a record that
// must not be taken; everything before it is handed on.
func (c *computer) run(work context.Context, batches <-chan *kafka.Batch) error {
	config := c.task.service.config
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

// untaken is an offset that no log reaches.
const untaken = math.MaxInt64

// take walks over a batch. It stops early when work has ended, and with an error before a record that must not be
// taken.
func (c *computer) take(work context.Context, batch *kafka.Batch) error {
	asked := 0
	c.segment.end = batch.Stable
	err := c.walk.Take(batch, func() int64 {
		c.handFull(batch.Stable)
		if asked++; asked%256 == 0 && work.Err() != nil {
			return 0
		}
		return untaken
	})
	if errors.Is(err, ErrEnded) {
		return endedError(c.task.partition, c.walk.Stream.end())
	}
	if err == nil {
		c.skipTo()
		c.handFull(batch.Stable)
	}
	return err
}

// skipTo gives the segment the verdicts of the offsets behind its last record.
func (c *computer) skipTo() {
	c.segment.setSkipped(c.walk.Position.Next - c.sent.Next - int64(len(c.segment.verdicts)))
}

// handFull hands a segment on that is over as much input as is to be computed again when it fails, or that nothing more
// fits in: the committer frees the memory of the one that it has batch by batch, and what is freed is waited for before
// anything is. All of it are public sizes and times: where a transaction closes must not tell what records were. The
// input ends at end.
func (c *computer) handFull(end int64) {
	for c.segment.taken < c.input && c.segment.full(c.memory) && len(c.free) == 0 {
		select {
		case <-c.segment.pool.Freed():
		case g := <-c.free: // the commit has ended
			c.free <- g
		}
	}
	if c.segment.taken >= c.input || c.segment.full(c.memory) {
		c.hand(true)
		c.segment.end = end
	}
}

// hand gives the segment to the committer. Unless force, it keeps filling the segment while a commit is under way. It
// reports whether nothing is left to hand on.
func (c *computer) hand(force bool) bool {
	if c.walk.Position.Next == c.sent.Next {
		return true
	}
	if !force && len(c.free) == 0 { // the committer holds the other segment
		return false
	}
	c.close()
	c.segments <- c.segment
	c.segment, c.now = <-c.free, time.Now().UnixMilli()
	return true
}

// close completes the segment: the state at its end, and its verdicts, which start where the segment before ended.
func (c *computer) close() {
	at := c.walk.Position
	c.private = c.walk.Stream.AppendState(c.private[:0])
	c.segment.position = at
	c.segment.steps = at.Step - c.sent.Step
	c.segment.sealed = c.sealer.Seal(c.segment.sealed[:0], at, c.private)
	c.segment.seal(c.sealer, c.sent.Next, c.now)
	c.sent = at
}
