package fetch

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"slices"
	"testing"

	"oriel/pipeline/kafka"
	"oriel/pipeline/kafka/records"
)

// TestEpochsOfABatch checks that a Batch lists the first offset of each epoch of its record batches, including batches
// without records for the caller, and returns the epoch before an offset.
func TestEpochsOfABatch(t *testing.T) {
	source := newNoise(44)
	say := func() shape { return contents()["value"] }
	var wire []byte
	for i, epoch := range []uint32{7, 7, 9, 12} { // batches of two records each, from offset 10 on
		one := answerOf(t, 10+2*int64(i), []framed{{records.NoCompression, times(2, 100)}}, source, say)
		binary.BigEndian.PutUint32(one[records.LeaderEpochAt:], epoch)
		wire = append(wire, one...)
	}
	r := local(13, wire) // starts inside the second batch
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

// TestAWholeLogHasNoHoles checks that a Reader with Options.Whole stops before the first offset without a record,
// whether a batch or one of its records is missing. It must return the records before this offset. Other Readers must
// skip such holes.
func TestAWholeLogHasNoHoles(t *testing.T) {
	batch := func(base int64) []byte { // a batch of two records
		return answerOf(t, base, []framed{{records.NoCompression, times(2, 100)}}, newNoise(45),
			func() shape { return contents()["value"] })
	}
	short := batch(12)
	binary.BigEndian.PutUint32(short[records.LastDeltaAt:], 2) // removes one of the offsets 12 to 14, like compaction
	sum := crc32.Checksum(short[records.AttributesAt:], crc32.MakeTable(crc32.Castagnoli))
	binary.BigEndian.PutUint32(short[records.CRCAt:], sum)
	for name, c := range map[string]struct {
		second []byte
		whole  bool
		want   int64 // offset where the reader stops
	}{
		"whole":                      {batch(12), true, 14},
		"a batch is gone":            {batch(14), true, 12},
		"a record is gone":           {short, true, 12},
		"a batch, to others":         {batch(14), false, 16},
		"a record, to other Readers": {short, false, 15},
	} {
		r := local(11, append(batch(10), c.second...)) // starts inside the first batch
		r.options.Whole = c.whole
		b, err := r.Fetch(t.Context())
		if err != nil || b.Next != c.want {
			t.Fatalf("%s: up to %+v, %v; want %d", name, b, err, c.want)
		}
		b.Release()
		r.Close()
	}
	r := local(9, batch(10))
	defer r.Close()
	r.options.Whole = true
	if b, err := r.Fetch(t.Context()); !errors.Is(err, kafka.ErrHole) || kafka.Transient(err) {
		t.Errorf("the first record is gone: %+v, %v", b, err)
	}
}
