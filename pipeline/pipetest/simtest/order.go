package simtest

import (
	"hash/fnv"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// The functions of this file replace chance by rules, where Go's scheduler or map iteration would otherwise determine
// an order.

// sending identifies the requests of one kind that a member sends at one time.
type sending struct {
	member *Member
	at     time.Duration
	kind   Kind
}

// alike counts the requests of a sending.
type alike struct {
	count   int
	effects map[uint64]Effect // effect of each fault, by its digest
}

// behind returns a digest of a request's contents, and the delay of the request after others of its kind and moment.
// The delay follows from the digest, because the order in which goroutines send is random. A member never sends two
// batches to one partition at the same time, so Produce needs no digest, and contents of records have no effect.
func (d *Deployment) behind(s sending, frame []byte) (later time.Duration, digest uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.alike[s].count < 2 || s.kind.API == "Produce" {
		return 0, 0
	}
	const correlation = 12 // left out, because correlation ids depend on the scheduling of goroutines
	h := fnv.New64a()
	_, _ = h.Write(d.topics.named(frame[correlation:]))
	return 1 + time.Duration(h.Sum64()%1009), h.Sum64()
}

// effect counts a request, and returns its effect. Equal requests at one moment get the same effect.
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

// allSync is longer than the time from a join to the sync that follows: an answer, two requests, and a message's
// latency.
const allSync = 20 * time.Millisecond

// untilAllSync returns the delay of a member's sync, so that the syncs of a generation reach the broker at one moment.
// Otherwise the result would be random: if no member was the leader before, kfake makes the last one of a map iteration
// the leader, and all members wait for its sync.
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
