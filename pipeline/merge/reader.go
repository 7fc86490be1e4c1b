package merge

import (
	"cmp"
	"context"
	"fmt"
	"sync"
	"time"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/order"
	"oriel/state"
)

// Topics are the names of the topics that a Reader reads. Their ids are in its order.Log.
type Topics struct{ Input, Order string }

// Reader reads all partitions of a topic as one log. It is not safe for concurrent use.
type Reader struct {
	client  *kafka.Client
	topics  Topics
	log     order.Log
	start   *state.Ordered
	options fetch.Options
	budget  *memory.Budget

	begin   sync.Once
	spawn   func(f func(ctx context.Context)) // runs f in a goroutine that Close ends
	stop    context.CancelFunc
	running sync.WaitGroup
	notices Notices
	halt    halt
	came    chan struct{} // wakes Fetch
	taken   chan struct{} // receives after each range handed out

	mu     sync.Mutex
	at     *state.Ordered // position in the order log after all ranges in ahead
	merged int64          // offset in the merged log of the next record to return
	behind int64          // number of offsets between merged and the known ends of the partitions
	ahead  []orderRange   // ranges not handed out yet, in order
	added  int64          // number of ranges added so far
	lanes  map[int32]*lane
	failed error // error of the order log; ranges added before it are handed out first

	patient *lane // the lane whose turn it is, while it waits for memory and no other lane runs
	giving  *lane // the lane that must release its memory when it stops running, or nil
	tried   int64 // number of the last range at which a waiting lane was resumed
	parked  int   // number of lanes that wait for memory
}

// orderRange is a range that is still to be handed out, and the order record that added it.
type orderRange struct {
	order.Range
	number int64
	record int64
	epoch  int32 // leader epoch of the batch in the order log that holds the record
	last   bool  // the last range of its order record
}

// NewReader returns a Reader that continues at a position of the stream that began at start. o.MaxBytes bounds one
// answer of one partition.
func NewReader(
	c *kafka.Client, topics Topics, log order.Log, start *state.Ordered, at state.Position, o fetch.Options,
) *Reader {
	o.ID, o.MaxWait = log.Input, cmp.Or(max(o.MaxWait, 0), defaultWait)
	ctx, stop := context.WithCancel(context.Background())
	r := &Reader{
		client: c, topics: topics, log: log, start: start, options: o, stop: stop,
		budget: cmp.Or(o.Budget, c.Budget()),
		came:   make(chan struct{}, 1), taken: make(chan struct{}, 1),
		at: at.Order.Clone(), merged: at.Next, lanes: map[int32]*lane{}, tried: -1,
	}
	r.Notify(Notices{})
	r.spawn = func(f func(context.Context)) { r.running.Go(func() { f(ctx) }) }
	return r
}

// defaultWait is how long Fetch waits for records if Options set no MaxWait.
const defaultWait = 500 * time.Millisecond

// Close ends the Reader's goroutines and releases its memory. Batches that it returned stay valid until their Release.
func (r *Reader) Close() {
	r.stop()
	r.running.Wait()
	for _, l := range r.lanes {
		l.drop()
	}
}

// Fetch returns the next records, all of one partition and one range. It waits up to MaxWait for them. If none arrive,
// it returns an empty Batch whose Partition is −1 and whose Order is nil.
func (r *Reader) Fetch(ctx context.Context) (*fetch.Batch, error) {
	r.begin.Do(func() { r.spawn(r.follow) })
	timer := time.NewTimer(r.options.MaxWait)
	defer timer.Stop()
	for {
		if batch, err := r.take(); batch != nil || err != nil {
			return batch, err
		}
		select {
		case <-r.came:
		case <-timer.C:
			return r.nothing(), nil
		case <-ctx.Done():
			return nil, fmt.Errorf("merge: %s: %w", r.topics.Input, ctx.Err())
		}
	}
}

// nothing returns an empty Batch at the next merged offset. Its Stable shows whether ordered records are still missing.
func (r *Reader) nothing() *fetch.Batch {
	r.mu.Lock()
	defer r.mu.Unlock()
	end := r.merged
	if len(r.ahead) > 0 {
		r.waits(r.ahead[0])
		end += r.behind
	}
	return &fetch.Batch{Partition: -1, From: r.merged, Next: r.merged, Stable: end, High: end, LeaderEpoch: -1}
}

// take returns the next Batch in the order if its lane has it.
func (r *Reader) take() (*fetch.Batch, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.ahead) == 0 {
		return nil, r.failed
	}
	head := &r.ahead[0]
	l := r.lanes[head.Partition]
	if len(l.ready) == 0 {
		if l.err != nil {
			return nil, l.err
		}
		r.push(l)
		return nil, nil //nolint:nilnil // nothing is there yet, which Fetch waits for
	}
	b := l.ready[0]
	if b.Next > head.To {
		b = b.Split(head.To, l.epoch)
	} else {
		l.ready = append(l.ready[:0], l.ready[1:]...)
	}
	if err := r.check(b, head); err != nil {
		b.Release()
		l.err = err
		return nil, err
	}
	r.hand(b, l)
	return b, nil
}

// check returns an error if a record below the end of a range was appended after the range was ordered. The leader that
// ordered the range had all records below its end, so a record of a later leader below this end has replaced a lost
// record.
func (r *Reader) check(b *fetch.Batch, head *orderRange) error {
	for _, e := range b.Epochs {
		if e.Leader > head.Epoch && e.Base < head.To {
			return fmt.Errorf("merge: %s: %w: epoch %d at offset %d, and epoch %d reached up to %d",
				kafka.PartitionName(r.topics.Input, head.Partition), kafka.ErrTruncated, e.Leader, e.Base, head.Epoch, head.To)
		}
	}
	return nil
}

// hand sets a Batch's position in the merged log.
func (r *Reader) hand(b *fetch.Batch, l *lane) {
	head := r.ahead[0]
	r.goesOn(head)
	done := b.Next == head.To
	b.Order = &fetch.Order{Record: head.record, LeaderEpoch: head.epoch, Epoch: head.Epoch, Done: done && head.last}
	b.Shift = r.merged - b.From
	b.Start = -b.Shift
	r.merged += b.Next - b.From
	r.behind -= b.Next - b.From
	b.Stable = b.Next + r.behind
	b.High = b.Stable
	l.next, l.epoch = b.Next, b.LeaderEpoch
	if done {
		r.ahead, l.ranges = r.ahead[1:], l.ranges[1:]
		notify(r.taken)
		r.unpark()
	}
	r.run(l)
}

// notify wakes the goroutine that waits on a channel of capacity 1.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
