package merge

import (
	"time"

	"oriel/pipeline/kafka/fetch"
)

// Idle detects the end of the log for a caller that reads up to an offset that the log must have. The zero value is
// ready.
type Idle struct{ since time.Time }

// idleFor is the time without a Batch after which the merge of a whole topic counts as ended. The merge reads several
// logs, and any of them may answer late. It must be well below the time that kafka.Doubt waits before it reports a
// loss, because a caller that suspects a loss checks again within that time.
const idleFor = 2 * time.Second

// Over receives the next Batch of a Source and reports whether the log has ended. A partition has ended if the Batch
// reaches its end without records; a whole topic has ended if no Batch came for idleFor.
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
