package merge

import (
	"context"
	"errors"
	"fmt"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/topics"
	"oriel/pipeline/order"
)

// readAhead is the number of Batches that a lane holds, so that Batches are ready when its turn comes. It does not
// fetch more, because a Batch may hold several MiB.
const readAhead = 2

// lane reads one partition ahead of the merge. While there is something to fetch it has a goroutine, which is then the
// only user of its reader.
type lane struct {
	partition int32
	ranges    []order.Range  // ranges not handed out yet
	ready     []*fetch.Batch // Batches fetched but not handed out, in order
	next      int64          // offset after the records handed out
	head      head           // of offset next
	slot      int64          // slot of head in the order record in progress
	waits     bool           // it waits for its turn in the order record in progress
	epoch     int32          // leader epoch of the last batch handed out, or −1
	known     int64          // last known end of the partition
	err       error          // error to return after the ready Batches
	doubt     kafka.Doubt    // the leader may lack a part of the current range

	reader  *fetch.Reader // opened at offset read when needed; nil before that
	read    int64         // offset after the ready Batches
	running bool
	cancel  context.CancelFunc // cancels the running fetch
	parked  bool               // waits for memory or for its turn, because it found no memory or gave its memory up
}

// holds reports whether a lane holds memory, or may get some at any time.
func (l *lane) holds() bool {
	return l.running || len(l.ready) > 0 || l.reader != nil && l.reader.Holds()
}

// wants reports whether there is something to fetch.
func (l *lane) wants() bool {
	n := len(l.ranges)
	return l.err == nil && n > 0 && l.read < l.ranges[n-1].To && len(l.ready) < readAhead
}

// drop releases the lane's Batches and moves the lane back to the first record not handed out yet. The lane must not be
// running.
func (l *lane) drop() {
	if l.reader != nil {
		l.reader.Close()
		l.reader = nil
	}
	for _, b := range l.ready {
		b.Release()
	}
	clear(l.ready)
	l.ready, l.read = l.ready[:0], l.next
}

// know updates the known end of a partition.
func (r *Reader) know(l *lane, end int64) {
	if end > l.known {
		r.behind += end - l.known
		l.known = end
	}
}

// run starts a lane's goroutine, unless it is running already or must wait.
func (r *Reader) run(l *lane) {
	if l.running || l.parked || !l.wants() || r.patient != nil && r.patient != l {
		return
	}
	if l.reader == nil {
		o := r.options
		epoch := l.epoch
		if n := len(l.ready); n > 0 {
			epoch = l.ready[n-1].LeaderEpoch
		}
		o.LastEpoch = &epoch
		l.reader = fetch.NewReader(r.client, r.topics.Input, l.partition, l.read, o)
	}
	l.running = true
	reader := l.reader
	r.spawn(func(ctx context.Context) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		for {
			more, patient := r.next(l, cancel)
			if !more {
				return
			}
			read := reader.TryFetch
			if patient {
				read = reader.Fetch
			}
			batch, err := read(ctx)
			if t, short := r.put(l, batch, err); short {
				r.ask(ctx, l, t)
			}
		}
	})
}

// next reports whether the goroutine of a lane continues, and whether its next fetch waits for memory (patient).
func (r *Reader) next(l *lane, cancel context.CancelFunc) (more, patient bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if l.cancel = cancel; r.giving != l && !l.parked && l.reader != nil && l.wants() {
		return true, r.patient == l
	}
	l.running, l.cancel = false, nil
	r.yielded(l)
	r.run(l) // reopens a closed reader
	notify(r.came)
	return false, false
}

// put adds a fetched Batch to a lane. short reports that the partition currently ends before the end of the lane's
// range t.
func (r *Reader) put(l *lane, b *fetch.Batch, err error) (t order.Range, short bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waited(l)
	switch {
	case r.giving == l:
		if b != nil {
			b.Release()
		}
		return t, false
	case errors.Is(err, memory.ErrNoRoom):
		r.park(l)
		return t, false
	case err != nil:
		l.err = err
		return t, false
	}
	r.know(l, b.Stable)
	if b.Next == b.From {
		t = l.reads()
		if b.Stable < t.To {
			b.Release()
			return t, true
		}
		b.Next = t.To    // the range ends with offsets that have no records: compacted, or never used
		l.reader.Close() // the reader is still at From
		l.reader = nil
	}
	l.doubt.Clear()
	l.read = b.Next
	l.ready = append(l.ready, b)
	if len(l.ready) == 1 {
		notify(r.came)
	}
	return t, false
}

// reads returns the range that the lane currently fetches.
func (l *lane) reads() order.Range {
	i := 0
	for l.ranges[i].To <= l.read {
		i++
	}
	return l.ranges[i]
}

// ask checks whether the leader has all records of a range, even if consumers cannot read some of them yet.
func (r *Reader) ask(ctx context.Context, l *lane, t order.Range) {
	end, err := topics.Reach(ctx, r.client, r.topics.Input, t.Partition, t.Epoch)
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.giving == l: // cancelled, to give up its memory
	case err != nil:
		l.err = err
	case end >= t.To:
		l.doubt.Clear()
	case l.doubt.Over():
		l.err = fmt.Errorf("merge: %s: %w: the partition ends at %d, and epoch %d reached up to %d",
			kafka.PartitionName(r.topics.Input, t.Partition), kafka.ErrTruncated, end, t.Epoch, t.To)
	}
}
