package eval

import (
	"math"
	"slices"
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
