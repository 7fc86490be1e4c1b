package fetch

import (
	"encoding/binary"
	"slices"
	"testing"

	"oriel/pipeline/kafka/records"
)

// TestEpochsOfABatch checks that a Batch has the first offset of each epoch of its record batches, also of those
// without records for the caller, and the epoch before an offset.
func TestEpochsOfABatch(t *testing.T) {
	source := newNoise(44)
	say := func() shape { return contents()["value"] }
	var wire []byte
	for i, epoch := range []uint32{7, 7, 9, 12} { // of two records each, from offset 10 on
		one := answerOf(t, 10+2*int64(i), []framed{{records.NoCompression, times(2, 100)}}, source, say)
		binary.BigEndian.PutUint32(one[records.LeaderEpochAt:], epoch)
		wire = append(wire, one...)
	}
	r := local(13, wire) // within the second one
	defer r.Close()
	b, err := r.Fetch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer b.Release()
	if want := []Epoch{{10, 7}, {14, 9}, {16, 12}}; b.Next != 18 || b.LeaderEpoch != 12 || !slices.Equal(b.Epochs, want) {
		t.Errorf("up to %d, epoch %d: %v, want %v", b.Next, b.LeaderEpoch, b.Epochs, want)
	}
	for offset, want := range map[int64]int32{10: 3, 13: 7, 14: 7, 15: 9, 16: 9, 17: 12} {
		if got := b.EpochAt(offset, 3); got != want {
			t.Errorf("before offset %d: epoch %d, want %d", offset, got, want)
		}
	}
}
