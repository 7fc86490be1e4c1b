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
	voids   order.Voids
	came    chan struct{} // wakes Fetch
	taken   chan struct{} // receives after each order record handed out

	mu      sync.Mutex
	known   *state.Ordered // the starting position, with the ends and the slot of all order records known
	at      *state.Ordered // position of the stream, with the ends of the order record in progress
	merged  int64          // offset in the merged log of the next record to return
	behind  int64          // number of offsets between merged and the known ends of the partitions
	ahead   []orderRecord  // order records not handed out yet, in order
	entries int            // number of entries in ahead
	entered bool           // the first of them is in progress
	turns   turns          // lanes with offsets of the order record in progress
	lanes   map[int32]*lane
	failed  error // error of the order log; order records before it are handed out first

	patient *lane // the lane whose turn it is, while it waits for memory and no other lane runs
	giving  *lane // the lane that must release its memory when it stops running, or nil
	tried   spot  // the last spot at which a waiting lane was resumed
	parked  int   // number of lanes that wait for memory
}

// spot is an offset of a partition whose turn it is.
type spot struct {
	partition int32
	offset    int64
}

func (l *lane) spot() spot { return spot{l.partition, l.next} }

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
		known: at.Order.Clone(), at: at.Order.Clone(), merged: at.Next, lanes: map[int32]*lane{}, tried: spot{-1, -1},
	}
	r.Notify(Notices{})
	r.spawn = func(f func(context.Context)) { r.running.Go(func() { f(ctx) }) }
	return r
}

// open reads the order log, and the records that earlier order records have left to later ones.
func (r *Reader) open() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, p := range r.at.Parts {
		if p.Next < p.End {
			r.extend(order.Range{Partition: p.Partition, From: p.Next, To: p.End, Epoch: p.Ordered})
		}
	}
	r.spawn(r.follow)
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

// Fetch returns the next records, all of one partition and one slot of an order record. It waits up to MaxWait for
// them. If none arrive, it returns an empty Batch whose Partition is −1 and whose Order is nil. An empty Batch with an
// Order shows the end of an order record.
func (r *Reader) Fetch(ctx context.Context) (*fetch.Batch, error) {
	r.begin.Do(r.open)
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
	if len(r.turns) > 0 {
		r.waits(r.turns[0])
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
	r.enter()
	for len(r.turns) > 0 {
		l := r.turns[0]
		if len(l.ready) > 0 && l.head.known {
			return r.hand(l)
		}
		if len(l.ready) > 0 {
			r.look(l) // it may be another lane's turn now
			continue
		}
		if l.err != nil {
			return nil, l.err
		}
		r.push(l)
		return nil, nil //nolint:nilnil // nothing is there yet, which Fetch waits for
	}
	is := r.ahead[0]
	b := &fetch.Batch{Partition: -1, From: r.merged, Next: r.merged, LeaderEpoch: -1}
	b.Order = &fetch.Order{Record: is.offset, LeaderEpoch: is.epoch, Slot: is.Slot, Closes: is.Slot, Done: r.leave()}
	b.Stable, b.High = b.Next, b.Next
	return b, nil
}

// hand takes the next piece of the lane whose turn it is.
func (r *Reader) hand(l *lane) (*fetch.Batch, error) {
	b := l.ready[0]
	to := r.reach(l, b)
	rest := b.Next > to
	if rest {
		b = b.Split(to, l.epoch)
	} else {
		l.ready = append(l.ready[:0], l.ready[1:]...)
	}
	place, _ := r.at.Part(l.partition)
	if err := r.check(b, place); err != nil {
		b.Release()
		l.err = err
		return nil, err
	}
	r.goesOn()
	is := r.ahead[0]
	b.Order = &fetch.Order{
		Record: is.offset, LeaderEpoch: is.epoch, Slot: l.slot, Closes: is.Slot, End: place.End, Epoch: place.Ordered,
	}
	r.shift(b)
	l.next, l.epoch = b.Next, b.LeaderEpoch
	r.at.Slot = l.slot
	place.Next, place.LeaderEpoch = l.next, l.epoch
	r.at.Set(place)
	if r.pass(l, rest); len(r.turns) == 0 {
		b.Order.Done = r.leave()
	}
	if len(r.turns) == 0 || r.turns[0] != l {
		r.unpark()
	}
	r.run(l)
	return b, nil
}

// check returns an error if a record below the end of a partition was appended after the partition was ordered. The
// leader that reported the end had all records below it, so a record of a later leader below this end has replaced a
// lost record.
func (r *Reader) check(b *fetch.Batch, place state.OrderedPart) error {
	for _, e := range b.Epochs {
		if e.Leader > place.Ordered && e.Base < place.End {
			return fmt.Errorf("merge: %s: %w: epoch %d at offset %d, and epoch %d reached up to %d",
				kafka.PartitionName(r.topics.Input, place.Partition), kafka.ErrTruncated, e.Leader, e.Base, place.Ordered,
				place.End)
		}
	}
	return nil
}

// shift sets a Batch's position in the merged log.
func (r *Reader) shift(b *fetch.Batch) {
	b.Shift = r.merged - b.From
	b.Start = -b.Shift
	r.merged += b.Next - b.From
	r.behind -= b.Next - b.From
	b.Stable = b.Next + r.behind
	b.High = b.Stable
}

// notify wakes the goroutine that waits on a channel of capacity 1.
func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
