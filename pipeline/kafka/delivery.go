package kafka

import (
	"context"
	"sync"
	"time"
)

// delivery hands an answer from a connection's goroutine to the Reader that asked, or gives its memory back if that has
// given up.
type delivery struct {
	pool   *bufferPool
	budget *Budget

	mu        sync.Mutex
	share     share // reserved for the records
	answer    fetchResponse
	abandoned bool
}

// room gives a buffer for records, within the budget: what was reserved and, if there is some now, more.
func (d *delivery) room(bytes int) *buffer {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.abandoned:
		return nil
	case bytes > 0 && !d.share.grow(d.budget, capacityFor(bytes)):
		return nil
	}
	if bytes == 0 {
		d.share.release()
	}
	d.share.shrink(capacityFor(bytes))
	// What arrives is believed to be as large as announced up to keepBytes; a larger buffer grows with what arrives.
	b := d.pool.get(min(bytes, keepBytes))
	b.share, d.share = d.share, share{}
	return b
}

// put takes the answer over from the connection's goroutine.
func (d *delivery) put(a fetchResponse) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.answer = a
	if d.abandoned {
		d.drop()
	}
}

// take gives the answer to the Reader.
func (d *delivery) take() fetchResponse {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.share.release()
	return d.answer
}

// abandon says that nobody waits for the answer any more.
func (d *delivery) abandon() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.abandoned = true
	d.drop()
}

func (d *delivery) drop() {
	d.share.release()
	if d.answer.records != nil {
		d.answer.records.release()
		d.answer.records = nil
	}
}

// expected is the room to reserve for the answer that follows one with so many bytes of records.
func expected(bytes, most int) int {
	if bytes == 0 {
		return 0
	}
	return capacityFor(min(2*bytes, max(bytes, most)))
}

// receive asks the leader once, with room for an answer like the last one reserved: a partition in which nothing
// happens holds nothing. If the answer finds no room, its records are not kept, and it is asked for again with all the
// room that it takes.
func (r *Reader) receive(ctx context.Context, timeout time.Duration) (fetchResponse, error) {
	for {
		reserved, err := r.budget.take(ctx, r.expect)
		if err != nil {
			return fetchResponse{}, err
		}
		d := &delivery{pool: r.client.buffers(), budget: r.budget, share: reserved}
		leader, err := r.client.leaderEpoch(ctx, r.topic, r.partition)
		if err == nil {
			_, err = r.client.roundTrip(ctx, timeout, r.newFetch(leader, d))
		}
		if err != nil {
			d.abandon()
			return fetchResponse{}, err
		}
		a := d.take()
		if a.refused == 0 {
			r.expect = 0
			if a.records != nil {
				r.expect = expected(len(a.records.b), r.options.MaxBytes)
			}
			return a, nil
		}
		r.expect = capacityFor(a.refused)
	}
}
