package pipeline

import (
	"context"
	"errors"
	"time"

	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/pipeline/transaction"
)

// computer fills transactions from fetched records and hands them to the committer. Decisions that it has computed but
// not handed over are lost when it ends. The loss is harmless because the next owner computes them again.
type computer struct {
	*transaction.Builder
	partition int32
	interval  time.Duration // time between commits
	ordered   bool          // the input has an order log, and commits are synchronised with it
	filled    chan<- *transaction.Transaction
	free      chan *transaction.Transaction
	memory    int // a transaction closes when both transactions together hold this many bytes,
	input     int // or when its records have this many bytes of input
}

// run takes Batches until the channel is closed, and then hands over everything that it took. After work has ended it
// only releases Batches, because the next owner fetches them again from where the state ends. It returns an error at a
// record that must not be taken, after it has handed over everything before that record.
func (c *computer) run(work context.Context, batches <-chan fetched) error {
	c.next()
	ticks := newTicks(c.interval, c.ordered)
	defer ticks.stop()
	for due := false; ; {
		select {
		case batch, open := <-batches:
			if !open {
				c.hand(true)
				return nil
			}
			var err error
			if work.Err() == nil {
				err = c.takeBatch(work, batch)
			}
			batch.Release()
			if err != nil {
				c.hand(true)
				return err
			}
			select {
			case now := <-ticks.passed:
				due = c.tick(now)
				ticks.next()
			default:
			}
		case now := <-ticks.passed:
			due = c.tick(now)
			ticks.next()
		}
		if due {
			due = !c.hand(false)
		}
	}
}

// tick sets the transaction's timestamp, unless the transaction has records already.
func (c *computer) tick(now time.Time) bool {
	if c.Transaction.Records == 0 {
		c.Now = now.UnixMilli()
	}
	return true
}

// takeBatch takes the records of a batch. It stops early when work has ended, and returns an error at a record that
// must not be taken.
func (c *computer) takeBatch(work context.Context, batch fetched) error {
	asked := 0
	end := batch.Stable + batch.Shift
	c.Transaction.End = end
	err := c.TakeDecoded(batch.Batch, batch.events, func() int64 {
		c.handFull(end)
		if asked++; asked%256 == 0 && work.Err() != nil {
			return 0
		}
		return streams.Untaken
	})
	if errors.Is(err, streams.ErrEnded) {
		return notice.HorizonReached(c.partition, c.Stream.End())
	}
	if err == nil {
		c.SkipTo()
		c.handFull(end)
	}
	return err
}

// handFull hands over a transaction that is full: it covers as much input as a take-over should have to recompute, or
// it has no more memory. The committer frees the memory of its own transaction batch by batch, so handFull waits for
// that memory first. It decides only by public sizes and times, because where a transaction closes must not depend on
// the contents of records. The input ends at end.
func (c *computer) handFull(end int64) {
	for c.Transaction.Taken < c.input && c.Transaction.Full(c.memory) && len(c.free) == 0 {
		select {
		case <-c.Transaction.Freed():
		case t := <-c.free: // the commit has ended, so the other transaction is free
			c.free <- t
		}
	}
	if c.Transaction.Taken >= c.input || c.Transaction.Full(c.memory) {
		c.hand(true)
		c.Transaction.End = end
	}
}

// hand gives the transaction to the committer. Unless force is set, it keeps the transaction, to be filled further,
// while another commit is in progress. It reports whether nothing is left to hand over.
func (c *computer) hand(force bool) bool {
	if c.Empty() {
		return true
	}
	if !force && len(c.free) == 0 { // the committer still holds the other transaction
		return false
	}
	c.Close()
	c.filled <- c.Transaction
	c.next()
	return true
}

// next continues with an empty transaction.
func (c *computer) next() { c.Transaction, c.Now = <-c.free, time.Now().UnixMilli() }
