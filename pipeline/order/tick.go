package order

import "time"

const (
	// mostLead is the greatest time by which the order is fixed before a commit tick. A look at the ends, an append,
	// and a fetch of the newly ordered records take some 10 ms in one data centre. With less lead, an event misses the
	// commit that it could be part of; with more, events wait longer for the tick.
	mostLead = 30 * time.Millisecond

	// mostPeriod bounds the time between two looks. Where commits are further apart, events must be read between them
	// too. Otherwise all would have to be computed just before a commit.
	mostPeriod = 100 * time.Millisecond
)

// CommitTick returns the first tick after now at which the stream of a whole topic commits. Ticks are multiples of the
// interval by the wall clock, so that the Sequencer of another process is in step with them.
func CommitTick(now time.Time, interval time.Duration) time.Time {
	return now.Truncate(interval).Add(interval)
}

// Tick returns the first moment after now at which a Sequencer looks at the ends: a little before each commit tick, and
// between commits.
func Tick(now time.Time, interval time.Duration) time.Time {
	lead := min(mostLead, interval*3/10)
	last := CommitTick(now.Add(lead), interval).Add(-lead)
	looks := (interval + mostPeriod - 1) / mostPeriod // an interval
	period := interval / looks
	before := min((last.Sub(now)-1)/period, looks-1) // looks that are still to come before the last one
	return last.Add(-before * period)
}

// turn makes one of several Sequencers go first. Two that look at the same moment write the same entries. Those of the
// second are void and take room in the log. So a Sequencer that came second looks a little later from then on, and has
// nothing to write. If no other one has written for long, it looks at the tick again.
type turn struct {
	rank      int // how often it came second
	undivided int // number of requests in a row before which no other Sequencer had written
}

const (
	mostRank      = 3
	rankDelay     = 8 * time.Millisecond // longer than it takes to read a record of another Sequencer
	longUndivided = 50
)

// delay is the time after the tick at which to look.
func (t *turn) delay() time.Duration { return time.Duration(t.rank) * rankDelay }

// took records a request. undivided reports that no other Sequencer has written between the look and the append.
func (t *turn) took(undivided bool) {
	if !undivided {
		t.rank, t.undivided = min(t.rank+1, mostRank), 0
		return
	}
	if t.undivided++; t.undivided >= longUndivided {
		t.rank, t.undivided = max(t.rank-1, 0), 0
	}
}
