package merge

import (
	"time"

	"oriel/pipeline/kafka/fetch"
)

// Idle is for a caller that reads up to a place that the log must have: it finds out that the log ends before it. The
// zero value is ready.
type Idle struct{ since time.Time }

// idleFor is how long the merge of a whole topic may hand out nothing before nothing more is to be expected, because it
// reads several logs and any of them may answer late. It must be well below the time for which a loss is doubted
// (kafka.Doubt): a caller that finds a loss looks again within that time.
const idleFor = 2 * time.Second

// Over takes the next Batch of a Source and reports whether the log is over: a partition when it has nothing up to its
// end, a whole topic when nothing has come for a while.
func (i *Idle) Over(b *fetch.Batch) bool {
	if b.Next > b.From || b.Next < b.Stable {
		i.since = time.Time{}
		return false
	}
	if b.Partition >= 0 {
		return true
	}
	if i.since.IsZero() {
		i.since = time.Now()
	}
	return time.Since(i.since) >= idleFor
}
