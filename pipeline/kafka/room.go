package kafka

import (
	"context"
	"errors"
)

// unpackStep is how much more room a batch gets that did not fit into what was guessed.
const unpackStep = 8

// unpack decompresses the batch under the cursor, or makes it lost. It reports false if there is no room now and it may
// not wait.
//
// How large a batch is nobody knows before it is decompressed, so it is tried in more and more room, up to
// MaxBatchBytes. What fits is the same in any room, and so is what is damaged.
func (r *Reader) unpack(ctx context.Context, wait bool) (bool, error) {
	for room := capacityFor(min(max(len(r.packed), r.made), keepBytes)); ; {
		plain, err := r.room(ctx, room, wait)
		if plain == nil {
			return false, err
		}
		contents, err := r.client.unpacker().unpack(r.cursor.header.codec(), plain.b, r.packed, MaxBatchBytes)
		plain.b = plain.b[:len(contents)] // all of its memory, which its pool tells by the capacity
		if err == nil {
			r.plain = r.fit(plain)
			r.cursor.body, r.packed, r.made = r.plain.b, nil, len(r.plain.b)
			return true, nil
		}
		plain.release()
		if room == MaxBatchBytes || !errors.Is(err, errTooLarge) {
			r.packed, r.cursor.lost = nil, true
			return true, nil
		}
		room = nextRoom(room)
	}
}

// nextRoom is the room that follows when a batch did not fit: few sizes, so that large buffers are used again.
func nextRoom(room int) int {
	switch {
	case room < keepBytes:
		return min(unpackStep*room, keepBytes)
	case room < largeBytes:
		return largeBytes
	default:
		return MaxBatchBytes
	}
}

// room gives a buffer to decompress to, or nil.
func (r *Reader) room(ctx context.Context, bytes int, wait bool) (*buffer, error) {
	if bytes == MaxBatchBytes {
		bytes = hugeBytes
	}
	part, ok := r.budget.try(bytes)
	if !ok {
		if !wait {
			return nil, nil
		}
		var err error
		if part, err = r.budget.takeOrOversize(ctx, bytes); err != nil {
			return nil, err
		}
	}
	b := r.client.buffers().get(bytes)
	b.share = part
	return b, nil
}

// fit moves contents that would keep a large buffer for little to a small one.
func (r *Reader) fit(b *buffer) *buffer {
	need := capacityFor(len(b.b))
	if cap(b.b) <= keepBytes || need > cap(b.b)/2 {
		return b
	}
	part, ok := r.budget.try(need)
	if !ok {
		return b
	}
	small := r.client.buffers().get(need)
	small.b, small.share = append(small.b, b.b...), part
	b.release()
	return small
}
