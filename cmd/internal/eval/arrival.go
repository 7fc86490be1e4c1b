package eval

import (
	"container/heap"
	"fmt"
	"math"
	"slices"
	"time"
)

// nearby is the number of records on each side that a timestamp is compared with: few odd ones are not the median of
// five, and a stream that pauses has five records after the pause at once.
const nearby = 5

// Arrival gives the records of a stream the times at which they came. Producers write timestamps, so one record may be
// of 1970 or of next year, or have none. A time is the timestamp, unless it is before the median of the five before, or
// after the median of the five behind. So a time of records in order is the timestamp itself.
type Arrival[T any] struct {
	items []T
	times []int64 // timestamps of up to five records that were taken, then those of items; negative: none
	taken int     // number of the former
}

// Add adds the next record, with its timestamp.
func (a *Arrival[T]) Add(item T, timestamp int64) {
	a.items, a.times = append(a.items, item), append(a.times, timestamp)
}

// Full reports whether Take knows enough records behind the next one.
func (a *Arrival[T]) Full() bool { return len(a.items) > nearby }

// Len returns the number of records that were added and not taken.
func (a *Arrival[T]) Len() int { return len(a.items) }

// Take removes the next record. Its time is negative if no record around it has a timestamp. Before the end of the
// stream, Arrival must be Full.
func (a *Arrival[T]) Take() (item T, timestamp, ms int64) {
	timestamp = a.times[a.taken]
	before, earliest := middle(a.times[:a.taken])
	behind, latest := middle(a.times[a.taken+1:])
	if latest == 0 {
		behind = math.MaxInt64
	}
	switch ms = timestamp; { // at an end of the stream, the side with more records decides
	case earliest+latest == 0:
	case ms < 0 && earliest >= latest:
		ms = before
	case ms < 0:
		ms = behind
	case earliest >= latest:
		ms = max(min(ms, behind), before)
	default:
		ms = min(max(ms, before), behind)
	}
	item = a.items[0]
	a.items = a.items[1:]
	if a.taken++; a.taken > nearby {
		a.times, a.taken = a.times[1:], nearby
	}
	return item, timestamp, ms
}

// middle returns the median of the timestamps that are not negative, and their number. Without any the median is 0.
func middle(timestamps []int64) (ms int64, count int) {
	var all [nearby]int64
	some := all[:0]
	for _, ms := range timestamps[:min(len(timestamps), nearby)] {
		if ms >= 0 {
			some = append(some, ms)
		}
	}
	if len(some) == 0 {
		return 0, 0
	}
	slices.Sort(some)
	return some[len(some)/2], len(some)
}

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

// due adds turns for the events of a stream whose labels are known at a place: a time, or a number of events.
func (f *field) due(stream int32, now int64) {
	for e := f.waiting[stream].next(now); e != nil; e = f.waiting[stream].next(now) {
		f.turns = append(f.turns, turn{e, true})
	}
}

// late takes a record of a topic whose labels are known after a time. It waits for the next few records, because they
// show whether the timestamp is odd.
func (f *field) late(i Item) error {
	a := &f.arrivals[i.Stream]
	if a.Add(i, i.Record.Timestamp); a.Full() {
		return f.arrive(a.Take())
	}
	return nil
}

// arrive takes a record that came at a time, ms.
func (f *field) arrive(i Item, timestamp, ms int64) error {
	if off := time.Duration(ms-timestamp) * time.Millisecond; timestamp < 0 || off.Abs() > f.in.Delay.Time {
		if f.odd++; f.odd == 1 {
			f.firstOdd = i.String()
		}
	}
	if ms < 0 {
		return fmt.Errorf("--delay: %s, and the records around it, have no timestamps; give the delay as a number of events", i)
	}
	return f.at(i, ms, ms+f.in.Delay.Time.Milliseconds())
}

// rest takes the records that still wait for the next ones.
func (f *field) rest() error {
	for stream := range f.arrivals {
		for a := &f.arrivals[stream]; a.Len() > 0; {
			if err := f.arrive(a.Take()); err != nil {
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
		"is %s. Their labels are known when those of the records around them are", r.odd, r.records, r.Delay, r.firstOdd)
}
