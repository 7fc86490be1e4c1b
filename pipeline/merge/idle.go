package merge

import (
	"time"

	"oriel/pipeline/kafka/fetch"
)

// Idle detects the end of the log for a caller that reads up to a place that the log must have. The zero value is
// ready.
type Idle struct{ since time.Time }

// idleFor is the time after which the merge of a whole topic counts as ended if it has handed out nothing. It reads
// several logs, and any of them may answer late. It must be well below the time for which a loss is doubted
// (kafka.Doubt), because a caller that finds a loss looks again within that time.
const idleFor = 2 * time.Second

// Over takes the next Batch of a Source and reports whether the log has ended: a partition if the Batch reaches its end
// without records, a whole topic if nothing has come for a while.
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
