package pipeline

import (
	"context"
	"errors"
	"time"

	"oriel/mechanisms/steps"
	"oriel/pipeline/notice"
	"oriel/pipeline/order"
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
	ticks     ticks
	due       bool // a tick has passed, and the transaction is not handed over

	clock  steps.Clock   // steps by the clock; zero: by count, and the fields below are not used
	delay  time.Duration // from the end of a step to the hand-over of its decision
	closed int64         // number of steps that the transaction closes
	more   bool          // the next step's decision goes into the same transaction
}

// run takes Batches until the channel is closed, and then hands over what is to be committed. After work has ended it
// only releases Batches, because the next owner fetches them again from where the state ends. It returns an error at a
// record that must not be taken, after it has handed over everything before that record.
func (c *computer) run(work context.Context, batches <-chan fetched) error {
	c.next()
	c.ticks = newTicks(c.interval, c.ordered)
	defer c.ticks.stop()
	c.Passes = func(slot, closes int64, ends bool) bool { return c.pass(work, slot, closes, ends) }
	for {
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
			case now := <-c.ticks.passed:
				c.tick(now)
			default:
			}
		case now := <-c.ticks.passed:
			c.tick(now)
		}
		c.save()
	}
}

// tick sets the transaction's timestamp, unless the transaction has records already.
func (c *computer) tick(now time.Time) {
	if c.Transaction.Records == 0 {
		c.Now = now.UnixMilli()
	}
	c.due = true
	c.ticks.next()
}

// save hands a transaction over after a tick, once it may be.
func (c *computer) save() {
	if c.due && c.maySave(time.Now()) {
		c.due = !c.hand(false)
	}
}

// takeBatch takes the records of a batch. It stops early when work has ended, and returns an error at a record that
// must not be taken.
func (c *computer) takeBatch(work context.Context, batch fetched) error {
	asked := 0
	c.Transaction.End = batch.Stable + batch.Shift
	err := c.TakeDecoded(batch.Batch, batch.events, func() int64 {
		c.handClosed()
		c.handFull()
		if asked++; asked%256 == 0 && work.Err() != nil {
			return 0
		}
		return streams.Untaken
	})
	if errors.Is(err, streams.ErrEnded) {
		return notice.HorizonReached(c.partition, c.Stream.Guarantee().Scope.End())
	}
	if err == nil {
		c.SkipTo()
		c.handClosed()
		c.handFull()
	}
	return err
}

// handFull hands over a transaction that is full: it covers as much input as a take-over should have to recompute, or
// it has no more memory. The committer frees the memory of its own transaction batch by batch, so handFull waits for
// that memory first. It decides only by public sizes and times, because where a transaction closes must not depend on
// the contents of records.
func (c *computer) handFull() {
	if c.closed > 0 {
		return // only steps and their order records decide where a transaction with decisions closes
	}
	for c.Transaction.Taken < c.input && c.Transaction.Full(c.memory) && len(c.free) == 0 {
		select {
		case <-c.Transaction.Freed():
		case t := <-c.free: // the commit has ended, so the other transaction is free
			c.free <- t
		}
	}
	if (c.Transaction.Taken >= c.input || c.Transaction.Full(c.memory)) && !c.Empty() {
		c.give() // by the clock also within an order record
	}
}

// hand gives the transaction to the committer. Unless force is set, it keeps the transaction, to be filled further,
// while another commit is in progress. It reports whether nothing is left to hand over.
func (c *computer) hand(force bool) bool {
	if !c.Pending() {
		return true
	}
	if !force && len(c.free) == 0 { // the committer still holds the other transaction
		return false
	}
	c.give()
	return true
}

// give gives the transaction to the committer, and continues with an empty one.
func (c *computer) give() {
	c.Close()
	end := c.Transaction.End
	c.filled <- c.Transaction
	c.closed = 0
	c.next()
	c.Transaction.End = end
}

// Transactions of steps by the clock. A step's decision is handed over at a public time, and the walk takes no record
// of a later step before. Where a transaction with decisions closes follows from the order log and from take-overs:
// usually after one step. Between them, each order record leads to one transaction that saves, with records or without,
// because the time at which a process dies or a commit fails must not show whether there were records. After an outage
// one order record closes many steps, of which short ones share a transaction, for at most mostShared seconds, so at
// most so many steps. The step of the record's last slot shares none, because without producers' times it may have all
// events of the outage, and a transaction must be able to end within it.
const mostShared = 64

// quiet is the time before the hand-over of a decision in which no saving begins, so that the hand-over need not wait
// for a commit.
const quiet = time.Second

// pass is streams.Walk.Passes. It waits at the end of a step until the step's decision is due, and saves meanwhile. It
// stops the walk when work ends.
func (c *computer) pass(work context.Context, slot, closes int64, ends bool) bool {
	c.handClosed()
	if !ends {
		return true
	}
	due := time.Unix(slot, 0).Add(c.delay)
	timer := time.NewTimer(time.Until(due))
	defer timer.Stop()
	for waits := true; waits; {
		select {
		case <-work.Done():
			return false
		case now := <-c.ticks.passed:
			if c.tick(now); time.Now().Before(due) { // else the decision comes first
				c.SkipTo()
				c.save()
			}
		case <-timer.C:
			waits = false
		}
	}
	c.closed++
	c.Now = due.UnixMilli()
	c.more = c.clock.Of(slot) < c.clock.Of(closes) && (c.closed+1)*c.clock.Length <= mostShared
	return true
}

// handClosed hands a transaction over that has the decisions of all steps that share it.
func (c *computer) handClosed() {
	if c.closed > 0 && !c.more {
		c.SkipTo()
		c.hand(true)
	}
}

// maySave reports whether a transaction without decisions may begin.
func (c *computer) maySave(now time.Time) bool {
	if c.clock.Counts() {
		return true
	}
	due := time.Unix(c.clock.End(c.Position.Step+1), 0).Add(c.delay)
	return c.closed == 0 && (now.Before(due.Add(-quiet)) || !now.Before(due))
}

// next continues with an empty transaction.
func (c *computer) next() { c.Transaction, c.Now = <-c.free, time.Now().UnixMilli() }

// ticks delivers the times at which commits are due. The reader of passed must call next after each tick, and must call
// stop at the end.
type ticks struct {
	passed <-chan time.Time
	next   func()
	stop   func()
}

// newTicks returns ticks with a fixed interval from now on. For a whole topic, each tick comes shortly after an order
// record, even if another process writes the order.
func newTicks(interval time.Duration, ordered bool) ticks {
	if !ordered {
		ticker := time.NewTicker(interval)
		return ticks{passed: ticker.C, next: func() {}, stop: ticker.Stop}
	}
	wait := func() time.Duration { return time.Until(order.CommitTick(time.Now(), interval)) }
	timer := time.NewTimer(wait())
	return ticks{passed: timer.C, next: func() { timer.Reset(wait()) }, stop: func() { timer.Stop() }}
}
