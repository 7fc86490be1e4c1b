package order

import "time"

const (
	// mostLead is how long before a commit tick the order is fixed, at most: a look at the ends, an append, and a fetch
	// of what has become readable take some 10 ms in one data centre. With less, an event misses the commit that it could
	// be part of; with more, events wait longer for the tick before.
	mostLead = 30 * time.Millisecond

	// mostPeriod bounds the time between two looks. Where commits are further apart, events must be read between them
	// too, or all would have to be computed in the moment before a commit.
	mostPeriod = 100 * time.Millisecond
)

// CommitTick is the first tick after a moment at which the stream of a whole topic commits. Ticks are multiples of the
// interval by the clock of the wall, so that the Sequencer of another process is in step with it.
func CommitTick(now time.Time, interval time.Duration) time.Time {
	return now.Truncate(interval).Add(interval)
}

// Tick is the first moment after another at which a Sequencer looks at the ends: a little before each commit tick, and
// between commits.
func Tick(now time.Time, interval time.Duration) time.Time {
	lead := min(mostLead, interval*3/10)
	last := CommitTick(now.Add(lead), interval).Add(-lead)
	looks := (interval + mostPeriod - 1) / mostPeriod // an interval
	period := interval / looks
	before := min((last.Sub(now)-1)/period, looks-1) // looks that are still to come before the last one
	return last.Add(-before * period)
}

// turn makes one of several Sequencers go first. Two that look at the same moment write the same entries, of which the
// second ones are void: they cost room in the log. Whoever comes second looks later from then on, and has nothing to
// write; once it has written alone for long, it is in step again.
type turn struct {
	rank  int // how often it came second
	alone int // requests in a row with nothing of others before them
}

const (
	mostRank  = 3
	rankDelay = 8 * time.Millisecond // above what a record of another takes to be read
	longAlone = 50
)

// delay is how much later than the tick to look.
func (t *turn) delay() time.Duration { return time.Duration(t.rank) * rankDelay }

// took notes whether nobody has written between the look at the log and the append.
func (t *turn) took(alone bool) {
	if !alone {
		t.rank, t.alone = min(t.rank+1, mostRank), 0
		return
	}
	if t.alone++; t.alone >= longAlone {
		t.rank, t.alone = max(t.rank-1, 0), 0
	}
}
