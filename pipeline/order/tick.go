package order

import "time"

const (
	// mostLead is the longest time between fixing the order and the commit tick. A look at the ends, an append, and a
	// fetch of the newly ordered records take some 10 ms in one data centre. With less time, an event misses the commit
	// that it could be part of; with more, events wait longer for the tick.
	mostLead = 30 * time.Millisecond

	// mostPeriod bounds the time between two looks at the ends. If commits are further apart, events must be ordered
	// between them too, because otherwise all of them would have to be computed just before a commit.
	mostPeriod = 100 * time.Millisecond
)

// CommitTick returns the first tick after now at which the stream of a whole topic commits. Ticks are multiples of the
// interval by the wall clock, so that a Sequencer in another process has the same ticks.
func CommitTick(now time.Time, interval time.Duration) time.Time {
	return now.Truncate(interval).Add(interval)
}

// Tick returns the first moment after now at which a Sequencer looks at the ends: shortly before each commit tick, and
// between commits.
func Tick(now time.Time, interval time.Duration) time.Time {
	lead := min(mostLead, interval*3/10)
	last := CommitTick(now.Add(lead), interval).Add(-lead)
	looks := (interval + mostPeriod - 1) / mostPeriod // looks per interval
	period := interval / looks
	before := min((last.Sub(now)-1)/period, looks-1) // looks of this interval before the last one
	return last.Add(-before * period)
}

// slotTick returns the first moment after now at which a Sequencer closes a slot: a grace after the slot's end.
func slotTick(now time.Time, grace time.Duration) time.Time {
	return now.Add(-grace).Truncate(Slot).Add(Slot + grace)
}

// precedence gives several Sequencers different delays. Two that look at the ends at the same time write the same
// entries; the second's entries are void and only make the log longer. So a Sequencer that wrote second looks a little
// later from then on, and finds nothing to write. If no other Sequencer has written for a long time, it looks at the
// tick again.
type precedence struct {
	rank      int // number of late writes so far, at most mostRank; each adds rankDelay
	undivided int // consecutive requests without records of another Sequencer
}

const (
	mostRank      = 3
	rankDelay     = 8 * time.Millisecond // longer than reading a record of another Sequencer takes
	longUndivided = 50
)

// delay returns the time from the tick until the Sequencer looks at the ends.
func (t *precedence) delay() time.Duration { return time.Duration(t.rank) * rankDelay }

// took records a request. undivided reports that no other Sequencer has written between the look and the append.
func (t *precedence) took(undivided bool) {
	if !undivided {
		t.rank, t.undivided = min(t.rank+1, mostRank), 0
		return
	}
	if t.undivided++; t.undivided >= longUndivided {
		t.rank, t.undivided = max(t.rank-1, 0), 0
	}
}
