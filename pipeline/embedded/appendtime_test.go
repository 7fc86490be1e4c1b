package embedded

import (
	"encoding/binary"
	"slices"
	"testing"
)

// batchOf returns the header of a batch with attributes.
func batchOf(attributes uint16) []byte {
	batch := make([]byte, batchHeaderLen)
	setAttributes(batch, attributes)
	return batch
}

// TestAttributesAreTheTopics checks that the attribute of a batch follows from the topic's setting, whatever the
// producer has sent.
func TestAttributesAreTheTopics(t *testing.T) {
	const transactional = 0x10
	for _, sent := range []uint16{transactional, transactional | logAppendTime, transactional | marked} {
		for _, appended := range []bool{false, true} {
			batch, want := batchOf(sent), uint16(transactional)
			if appended {
				want |= marked
			}
			stamp(batch, appended, 77)
			if got := binary.BigEndian.Uint16(batch[attributesAt:]); got != want {
				t.Errorf("attributes %#x of a batch that was sent with %#x, want %#x", got, sent, want)
			}
			if at := binary.BigEndian.Uint64(batch[maxTimeAt:]); (at == 77) != appended {
				t.Errorf("time %d, appended: %t", at, appended)
			}
			if checksum(batch) != binary.BigEndian.Uint32(batch[batchSumAt:]) {
				t.Error("the checksum is wrong")
			}
		}
	}
	damaged := batchOf(0)
	damaged[maxTimeAt]++
	was := slices.Clone(damaged)
	if stamp(damaged, true, 77); !slices.Equal(damaged, was) {
		t.Error("a damaged batch became valid")
	}
}

// TestRequestsAreFollowedInPieces checks that the version of a fetch is known however its bytes arrive.
func TestRequestsAreFollowedInPieces(t *testing.T) {
	frame := func(key, version uint16, id uint32, body int) []byte {
		b := binary.BigEndian.AppendUint32(nil, uint32(8+body))
		b = binary.BigEndian.AppendUint16(b, key)
		b = binary.BigEndian.AppendUint16(b, version)
		return append(binary.BigEndian.AppendUint32(b, id), make([]byte, body)...)
	}
	stream := slices.Concat(frame(1, 13, 5, 30), frame(0, 9, 6, 0), frame(1, 4, 7, 1))
	for size := 1; size <= len(stream); size++ {
		r := requests{fetches: map[uint32]int16{}}
		for piece := range slices.Chunk(stream, size) {
			r.read(piece)
		}
		for id, want := range map[uint32]int16{5: 13, 7: 4} {
			answer := binary.BigEndian.AppendUint32(make([]byte, 4), id)
			if version, fetched := r.answered(answer); !fetched || version != want {
				t.Errorf("pieces of %d bytes: version %d of request %d, want %d", size, version, id, want)
			}
			if _, again := r.answered(answer); again {
				t.Errorf("pieces of %d bytes: request %d is answered twice", size, id)
			}
		}
		if _, fetched := r.answered(frame(0, 0, 0, 0)[:8]); fetched {
			t.Errorf("pieces of %d bytes: a request that is no fetch", size)
		}
	}
}
