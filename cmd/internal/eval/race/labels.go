package race

import (
	"container/heap"
	"fmt"
	"time"

	"oriel/cmd/internal/eval"
)

// labels holds the events of a stream from which nothing was learned yet, in the order of the stream.
type labels struct {
	queue []*scoredEvent
	byDue dues
	known int // number of events in queue whose label is known
}

func (l *labels) add(e *scoredEvent) {
	l.queue = append(l.queue, e)
	heap.Push(&l.byDue, e)
}

// next removes the next event to learn from, or returns nil. Learning goes in the order of the stream. But an event
// whose label comes much later than others, because its time is odd, must not hold back all of them. So it is learned
// from without its time once the labels of more than half of the waiting events are known.
func (l *labels) next(now int64) *scoredEvent {
	for len(l.byDue) > 0 && l.byDue[0].due <= now {
		if e := heap.Pop(&l.byDue).(*scoredEvent); !e.learned {
			e.known = true
			l.known++
		}
	}
	if len(l.queue) == 0 || !l.queue[0].known && 2*l.known <= len(l.queue) {
		return nil
	}
	e := l.queue[0]
	l.queue = l.queue[1:]
	if e.learned = true; e.known {
		l.known--
	}
	return e
}

// dues is a heap of events: the one whose label is known first is the first.
type dues []*scoredEvent

func (d dues) Len() int           { return len(d) }
func (d dues) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d dues) Less(i, j int) bool { return d[i].due < d[j].due }
func (d *dues) Push(e any)        { *d = append(*d, e.(*scoredEvent)) }
func (d *dues) Pop() any {
	last := len(*d) - 1
	e := (*d)[last]
	(*d)[last] = nil
	*d = (*d)[:last]
	return e
}

// due adds tasks for the events of a stream whose labels are known at a place: a time, or a number of events.
func (r *race) due(stream int32, now int64) error {
	for e := r.waiting[stream].next(now); e != nil; e = r.waiting[stream].next(now) {
		if err := r.feed.Add(task{e, true}); err != nil {
			return err
		}
	}
	return nil
}

// late takes a record of a topic whose labels are known after a time. It waits for the next few records, because they
// show whether the timestamp is odd.
func (r *race) late(i eval.Item) error {
	a := &r.arrivals[i.Stream]
	if a.Add(i, i.Record.Timestamp); a.Full() {
		return r.arrive(a.Take())
	}
	return nil
}

// arrive takes a record that came at a time, ms.
func (r *race) arrive(i eval.Item, timestamp, ms int64) error {
	if off := time.Duration(ms-timestamp) * time.Millisecond; timestamp < 0 || off.Abs() > r.delay.Time {
		if r.odd++; r.odd == 1 {
			r.firstOdd = i.String()
		}
	}
	if ms < 0 {
		return fmt.Errorf("--delay: %s, and the records around it, have no timestamps; give the delay as a number of events", i)
	}
	return r.at(i, ms, ms+r.delay.Time.Milliseconds())
}

// rest takes the records that still wait for the next ones.
func (r *race) rest() error {
	for stream := range r.arrivals {
		for a := &r.arrivals[stream]; a.Len() > 0; {
			if err := r.arrive(a.Take()); err != nil {
				return err
			}
		}
	}
	return nil
}

// Odd returns a warning about records whose timestamps are off by more than the delay, or "".
func (r *Report) Odd() string {
	if r.odd == 0 {
		return ""
	}
	return fmt.Sprintf("--delay: %d of %d records have no timestamp, or one that is more than %s off those around it; the first "+
		"is %s. Their labels are known together with the labels of the records around them", r.odd, r.records, r.Delay, r.firstOdd)
}
