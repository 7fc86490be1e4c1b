package fetch

import (
	"context"
	"errors"

	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
)

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
