package merge

import (
	"cmp"
	"context"
	"time"

	"oriel/pipeline/deployment"
	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/fetch"
	"oriel/pipeline/order"
	"oriel/state"
)

// Notices are the callbacks through which a Reader reports public facts. They must return quickly; a nil callback is
// not called.
type Notices struct {
	// Halted reports that no records of the partition whose turn it is have arrived for HaltAfter, and later that they
	// arrive again. The partition has no leader, or its leader does not have the records yet. Fetch calls Halted.
	Halted    func(partition int32, halted bool)
	HaltAfter time.Duration // wait before a notice; 0: 5 s, because most elections take less

	// Void receives for how long the order records of this deployment have been void, at each void one, and 0 at the next
	// one that counts. It is called concurrently with Fetch.
	Void func(last time.Duration)

	// Refused receives the offset of an order record that this deployment did not write. It is called concurrently with
	// Fetch.
	Refused func(record int64)
}

// halt records since when no records of the partition whose turn it is have arrived.
type halt struct {
	at       spot
	since    time.Time
	reported bool
}

// Notify sets the callbacks of a Reader. It must be called BEFORE the first Fetch.
func (r *Reader) Notify(n Notices) {
	n.HaltAfter = cmp.Or(n.HaltAfter, 5*time.Second)
	if n.Halted == nil {
		n.Halted = func(int32, bool) {}
	}
	if n.Void == nil {
		n.Void = func(time.Duration) {}
	}
	if n.Refused == nil {
		n.Refused = func(int64) {}
	}
	r.notices = n
}

// waits notes that Fetch has found no records of the lane whose turn it is.
func (r *Reader) waits(l *lane) {
	now := time.Now()
	switch h := &r.halt; {
	case h.since.IsZero() || h.at != l.spot():
		r.goesOn()
		r.halt = halt{at: l.spot(), since: now}
	case !h.reported && now.Sub(h.since) >= r.notices.HaltAfter:
		h.reported = true
		r.notices.Halted(l.partition, true)
	}
}

// goesOn notes that Fetch has found records of the partition that it has waited for.
func (r *Reader) goesOn() {
	if r.halt.reported {
		r.notices.Halted(r.halt.at.partition, false)
	}
	r.halt = halt{}
}

// Source is the input of a stream: one partition, or all partitions as one log.
type Source interface {
	// Fetch returns the next records, as fetch.Reader.Fetch does.
	Fetch(ctx context.Context) (*fetch.Batch, error)

	// Close releases the memory of the Source. Batches that it returned stay valid until their Release.
	Close()
}

// Open returns the Source of a partition's stream from a position on: a fetch.Reader, or a Reader of the whole topic.
// key authenticates order records, and start is where the stream of the whole topic began. For the stream of one
// partition neither is used. Open replaces the topic id and the epoch in o by the position's.
func Open(
	c *kafka.Client, config deployment.Config, partition int32, key [32]byte, start *state.Ordered, at state.Position,
	o fetch.Options,
) Source {
	o.ID = at.Topic
	if config.WholeTopic() {
		o.LastEpoch = nil
		log := order.LogOf(key, at.Order, at.Topic)
		return NewReader(c, Topics{Input: config.Input, Order: config.Order}, log, start, at, o)
	}
	o.LastEpoch = &at.LeaderEpoch
	return fetch.NewReader(c, config.Input, partition, at.Next, o)
}

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
	if b.Next > b.From || b.Next < b.Stable || b.Order != nil {
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
