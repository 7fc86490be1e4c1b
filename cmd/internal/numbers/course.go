package numbers

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

// follow adds a time to the course of a stream.
func follow(courses map[stream]*course, of stream, ms int64) {
	if courses[of] == nil {
		courses[of] = &course{}
	}
	courses[of].add(ms)
}

// mixes is the part of an interval from which times that go back are worth a warning. Events that are this much late
// move up to a twentieth of an interval's events into another interval.
const mixes = 20

// mixed returns how far the times of a stream's decisions go back at most, or 0 if that is little beside an interval.
func (c Clock) mixed(courses map[stream]*course) time.Duration {
	most := time.Duration(0)
	for _, of := range courses {
		most = max(most, time.Duration(of.back)*time.Millisecond)
	}
	if c.Every == 0 || most < c.Every/mixes {
		return 0
	}
	return most
}
