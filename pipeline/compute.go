package pipeline

import (
	"context"
	"errors"
	"time"

	"oriel/pipeline/notice"
	"oriel/pipeline/streams"
	"oriel/pipeline/transaction"
)

// computer fills transactions from fetched records and hands them to the committer. What it has computed and the
// committer has not taken is lost with it, which does no harm: the next owner computes it again.
type computer struct {
	*transaction.Builder
	partition int32
	interval  time.Duration // between commits
	ordered   bool          // by an order log: commits are in step with it
	filled    chan<- *transaction.Transaction
	free      chan *transaction.Transaction
	memory    int // a transaction closes when both hold so many bytes,
	input     int // or when it is over so many
}

// run ends when batches closes: then everything taken is handed on. Once work has ended, what is still fetched is let
// go untaken: the next owner fetches it again, from where the state ends. It ends with an error before a record that
// must not be taken; everything before it is handed on.
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

// tick stamps the transaction, unless records have been stamped already.
func (c *computer) tick(now time.Time) bool {
	if c.Transaction.Records == 0 {
		c.Now = now.UnixMilli()
	}
	return true
}

// takeBatch walks over a batch. It stops early when work has ended, and with an error before a record that must not be
// taken.
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

// handFull hands a transaction on that is over as much input as is to be computed again when it fails, or that nothing
// more fits in: the committer frees the memory of the one that it has batch by batch, and what is freed is waited for
// before anything is. All of it are public sizes and times: where a transaction closes must not tell what records were.
// The input ends at end.
func (c *computer) handFull(end int64) {
	for c.Transaction.Taken < c.input && c.Transaction.Full(c.memory) && len(c.free) == 0 {
		select {
		case <-c.Transaction.Freed():
		case t := <-c.free: // the commit has ended
			c.free <- t
		}
	}
	if c.Transaction.Taken >= c.input || c.Transaction.Full(c.memory) {
		c.hand(true)
		c.Transaction.End = end
	}
}

// hand gives the transaction to the committer. Unless force, it keeps filling the transaction while a commit is under
// way. It reports whether nothing is left to hand on.
func (c *computer) hand(force bool) bool {
	if c.Empty() {
		return true
	}
	if !force && len(c.free) == 0 { // the committer holds the other transaction
		return false
	}
	c.Close()
	c.filled <- c.Transaction
	c.next()
	return true
}

// next goes on with an empty transaction.
func (c *computer) next() { c.Transaction, c.Now = <-c.free, time.Now().UnixMilli() }
