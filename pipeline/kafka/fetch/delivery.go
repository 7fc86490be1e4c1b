package fetch

import (
	"context"
	"errors"
	"sync"
	"time"

	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
)

// delivery passes an answer from a connection's goroutine to the Reader that asked. If the Reader has given up, it
// frees the answer's memory.
type delivery struct {
	pool   *memory.Pool
	budget *memory.Budget

	mu        sync.Mutex
	share     memory.Share // memory reserved for the records
	answer    fetchResponse
	abandoned bool
}

// room returns a buffer for records, within the budget: the reservation, plus more if the budget has more now.
func (d *delivery) room(bytes int) *memory.Buffer {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.abandoned:
		return nil
	case bytes > 0 && !d.share.Grow(d.budget, memory.CapacityFor(bytes)):
		return nil
	}
	if bytes == 0 {
		d.share.Release()
	}
	d.share.Shrink(memory.CapacityFor(bytes))
	// Up to memory.KeepBytes the buffer gets the announced size at once. A larger buffer grows as bytes arrive.
	b := d.pool.Get(min(bytes, memory.KeepBytes))
	b.Share, d.share = d.share, memory.Share{}
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

// take returns the answer to the Reader.
func (d *delivery) take() fetchResponse {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.share.Release()
	return d.answer
}

// abandon records that the Reader no longer waits for the answer.
func (d *delivery) abandon() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.abandoned = true
	d.drop()
}

func (d *delivery) drop() {
	d.share.Release()
	if d.answer.records != nil {
		d.answer.records.Release()
		d.answer.records = nil
	}
}

// expected returns the memory to reserve for an answer, given the bytes of records in the last answer.
func expected(bytes, most int) int {
	if bytes == 0 {
		return 0
	}
	return memory.CapacityFor(min(2*bytes, max(bytes, most)))
}

// reserve reserves memory for the next answer, by the size of the last one.
func (r *Reader) reserve(ctx context.Context) (memory.Share, error) {
	if !r.hurried {
		return r.budget.Take(ctx, r.expect)
	}
	share, ok := r.budget.TryTake(r.expect)
	if !ok {
		return share, memory.ErrNoRoom
	}
	return share, nil
}

// receive asks the leader once, with memory for an answer like the last one, so that an idle partition reserves no
// memory. If the answer does not fit, its records are dropped and requested again, with enough memory reserved.
func (r *Reader) receive(ctx context.Context, timeout time.Duration) (fetchResponse, error) {
	for {
		reserved, err := r.reserve(ctx)
		if err != nil {
			return fetchResponse{}, err
		}
		d := &delivery{pool: r.client.Buffers(), budget: r.budget, share: reserved}
		leader, err := r.client.LeaderEpoch(ctx, r.topic, r.partition)
		if err == nil {
			_, err = r.client.RoundTrip(ctx, timeout, r.newFetch(leader, d))
		}
		if err != nil {
			d.abandon()
			return fetchResponse{}, err
		}
		a := d.take()
		if a.refused == 0 {
			r.expect = 0
			if a.records != nil {
				r.expect = expected(len(a.records.B), r.options.MaxBytes)
			}
			return a, nil
		}
		r.expect = memory.CapacityFor(a.refused)
	}
}

// unpackStep is the factor by which the next attempt's memory grows when the decompressed batch did not fit.
const unpackStep = 8

// unpack decompresses the batch under the cursor, or marks it lost. It reports false if there is no memory now and wait
// is false.
//
// The size of a batch is unknown until it is decompressed. So unpack tries larger and larger buffers, up to
// MaxBatchBytes. The result, contents or damage, does not depend on the buffer.
func (r *Reader) unpack(ctx context.Context, wait bool) (bool, error) {
	for room := memory.CapacityFor(min(max(len(r.packed), r.made), memory.KeepBytes)); ; {
		plain, err := r.room(ctx, room, wait)
		if plain == nil {
			return false, err
		}
		contents, err := r.client.Unpacker().Unpack(r.cursor.Header.Codec(), plain.B, r.packed, records.MaxBatchBytes)
		plain.B = plain.B[:len(contents)] // keeps the capacity, by which the pool sorts buffers
		if err == nil {
			r.plain = r.fit(plain)
			r.cursor.Body, r.packed, r.made = r.plain.B, nil, len(r.plain.B)
			return true, nil
		}
		plain.Release()
		if room == records.MaxBatchBytes || !errors.Is(err, records.ErrTooLarge) {
			r.packed, r.cursor.Lost = nil, true
			return true, nil
		}
		room = nextRoom(room)
	}
}

// nextRoom returns the next buffer size for a batch that did not fit. There are few sizes, so that large buffers are
// reused.
func nextRoom(room int) int {
	switch {
	case room < memory.KeepBytes:
		return min(unpackStep*room, memory.KeepBytes)
	case room < memory.LargeBytes:
		return memory.LargeBytes
	default:
		return records.MaxBatchBytes
	}
}

// room returns a buffer to decompress into, or nil.
func (r *Reader) room(ctx context.Context, bytes int, wait bool) (*memory.Buffer, error) {
	if bytes == records.MaxBatchBytes {
		bytes = memory.HugeBytes
	}
	part, ok := r.budget.Try(bytes)
	if !ok {
		if !wait {
			return nil, nil
		}
		if r.hurried {
			return nil, memory.ErrNoRoom
		}
		var err error
		if part, err = r.budget.TakeOrOversize(ctx, bytes); err != nil {
			return nil, err
		}
	}
	b := r.client.Buffers().Get(bytes)
	b.Share = part
	return b, nil
}

// fit moves small contents from a large buffer to a small one.
func (r *Reader) fit(b *memory.Buffer) *memory.Buffer {
	need := memory.CapacityFor(len(b.B))
	if cap(b.B) <= memory.KeepBytes || need > cap(b.B)/2 {
		return b
	}
	part, ok := r.budget.Try(need)
	if !ok {
		return b
	}
	small := r.client.Buffers().Get(need)
	small.B, small.Share = append(small.B, b.B...), part
	b.Release()
	return small
}
