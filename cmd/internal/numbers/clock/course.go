package clock

import (
	"slices"
	"time"
)

// course follows the times of a stream's decisions, in the order of their steps. A stream of several partitions that
// reads a backlog takes long runs of one partition after another, so that times go back at each change. Its steps may
// then hold events of several intervals, whatever their own time is.
//
// A single odd timestamp must not look like that. So times are replaced by the median of five consecutive ones, which
// any two odd ones cannot move far.
type course struct {
	recent [5]int64 // the newest times, ms, the place of the next one at taken modulo 5
	taken  int
	latest int64 // greatest median so far
	back   int64 // largest distance from a median back from the greatest median before it, ms
}

func (c *course) add(ms int64) {
	c.recent[c.taken%len(c.recent)] = ms
	if c.taken++; c.taken < len(c.recent) {
		return
	}
	sorted := c.recent
	slices.Sort(sorted[:])
	median := sorted[len(sorted)/2]
	if c.taken == len(c.recent) {
		c.latest = median
	}
	c.latest = max(c.latest, median)
	c.back = max(c.back, c.latest-median)
}

// mixes is the part of an interval from which times that go back are worth a warning. Events that are this much late
// move up to a twentieth of an interval's events into another interval.
const mixes = 20

// Mixed returns how far the times of a stream's decisions go back at most, or 0 if that is little beside an interval.
func (a *Arrivals) Mixed() time.Duration {
	most := time.Duration(0)
	for _, of := range a.courses {
		most = max(most, time.Duration(of.back)*time.Millisecond)
	}
	if a.Every == 0 || most < a.Every/mixes {
		return 0
	}
	return most
}

// Instant is the format of times: RFC 3339, with fractions of a second only if they are not zero.
const Instant = "2006-01-02T15:04:05.999Z07:00"

// Clock defines the intervals: [k·Every − Offset, (k+1)·Every − Offset) since 1970, UTC. Whole weeks are counted from
// the first Monday of 1970. If Every is 0, a single interval contains all times.
type Clock struct {
	Every  time.Duration
	Offset time.Duration // offset of local time from UTC, positive in the east
}

// Key returns the number k of the interval that contains a time, ms.
func (c Clock) Key(ms int64) int64 {
	if c.Every == 0 {
		return 0
	}
	every, at := c.Every.Milliseconds(), ms-c.origin()
	key := at / every
	if at%every < 0 {
		key--
	}
	return key
}

// Divides reports whether periods consist of whole intervals. Periods begin at multiples of a length since 1970, UTC,
// plus an offset.
func (c Clock) Divides(length, offset time.Duration) bool {
	return c.Every > 0 && length%c.Every == 0 && (offset.Milliseconds()-c.origin())%c.Every.Milliseconds() == 0
}

// Start returns the beginning of an interval.
func (c Clock) Start(key int64) time.Time {
	return time.UnixMilli(key*c.Every.Milliseconds() + c.origin()).In(time.FixedZone("", int(c.Offset.Seconds())))
}

// origin returns the beginning of interval 0, ms.
func (c Clock) origin() int64 {
	const day = 24 * time.Hour
	origin := -c.Offset
	if c.Every%(7*day) == 0 {
		origin += 4 * day
	}
	return origin.Milliseconds()
}
