package simtest

import (
	"hash/fnv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// What the scheduler of Go would decide, or a map, is decided here.

// sending is a moment at which a member sends requests of one kind.
type sending struct {
	member *Member
	at     time.Duration
	kind   Kind
}

// alike are the requests of a sending.
type alike struct {
	count   int
	effects map[uint64]Effect // by digest
}

// behind is how much later than others of its kind and moment a request arrives, and a digest of what it asks for. The
// one follows from the other, because nothing says which goroutine has sent its own first. A member sends no two
// batches to one partition at one moment, so that contents of records decide nothing.
func (d *Deployment) behind(s sending, frame []byte) (later time.Duration, digest uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.alike[s].count < 2 || s.kind.API == "Produce" {
		return 0, 0
	}
	const correlation = 12 // the ids of requests are given in the order of goroutines
	h := fnv.New64a()
	_, _ = h.Write(d.topics.named(frame[correlation:]))
	return 1 + time.Duration(h.Sum64()%1009), h.Sum64()
}

// effect counts a request, and says what becomes of it: the same of those that ask for the same at one moment.
func (d *Deployment) effect(s sending, digest uint64, r Request) Effect {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := d.alike[s]
	e, known := all.effects[digest]
	if !known || digest == 0 {
		e = d.ruled(r)
		if all.effects == nil {
			all.effects = map[uint64]Effect{}
		}
		all.effects[digest] = e
	}
	return e
}

// allSync is longer than it takes from a join to the sync that follows: an answer, two requests, and a message.
const allSync = 20 * time.Millisecond

// untilAllSync is how long a member's sync is held back, so that those of a generation reach the broker at one moment.
// Of members none of whom was the leader, kfake takes one that a map comes to last, and each waits for the leader.
func (d *Deployment) untilAllSync(request kmsg.Request) time.Duration {
	sync, ok := request.(*kmsg.SyncGroupRequest)
	if !ok {
		return 0
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	joined, ok := d.joined[sync.Group]
	if !ok {
		return 0
	}
	return max(0, joined+allSync-time.Since(d.began))
}
