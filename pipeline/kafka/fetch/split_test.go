package fetch

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/records/recordstest"
)

// someBatches returns batches of three records each, from offset 0 on, with epochs 0, 1, 2 …
func someBatches(t *testing.T, codec records.Codec, n int) [][]byte {
	t.Helper()
	made := make([][]byte, n)
	for i := range made {
		three := recordstest.Random(rand.New(rand.NewPCG(uint64(i), 1)), 3)
		made[i] = recordstest.Appended(t, recordstest.Build(codec, three), int64(3*i), records.Stamp{})
		binary.BigEndian.PutUint32(made[i][records.LeaderEpochAt:], uint32(i)) // the checksum does not cover the epoch
	}
	return made
}

// TestSplitIsTwoReaders checks that the two parts equal the Batches of Readers that stop and start at the offset. Their
// memory is held until both are released.
func TestSplitIsTwoReaders(t *testing.T) {
	for _, codec := range []records.Codec{records.NoCompression, records.LZ4} {
		wire := bytes.Join(someBatches(t, codec, 3), nil)
		whole := new(Batch)
		if err := local(0, wire).fill(t.Context(), whole); err != nil {
			t.Fatal(err)
		}
		for at := int64(1); at < 9; at++ {
			r := local(0, wire)
			budget := memory.NewBudget(1 << 20)
			r.budget = budget
			b, err := r.Fetch(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			r.Close()
			head := b.Split(at, -1)
			if head.From != 0 || head.Next != at || b.From != at || b.Next != 9 {
				t.Fatalf("split at %d: from %d to %d, and from %d to %d", at, head.From, head.Next, b.From, b.Next)
			}
			if head.LeaderEpoch != int32(at-1)/3 || b.LeaderEpoch != 2 {
				t.Errorf("split at %d: epochs %d and %d", at, head.LeaderEpoch, b.LeaderEpoch)
			}
			for offset := range int64(10) {
				part, was := head, int32(-1)
				if offset > at {
					part, was = b, head.LeaderEpoch
				}
				if got, want := part.EpochAt(offset, was), whole.EpochAt(offset, -1); got != want {
					t.Errorf("split at %d: epoch %d before offset %d, want %d", at, got, offset, want)
				}
			}
			first, rest := whole.Records[:at], whole.Records[at:]
			if at%2 == 0 { // the two Batches are released in both orders
				same(t, b.Records, rest)
				b.Release()
				same(t, head.Records, first)
				head.Release()
			} else {
				same(t, head.Records, first)
				head.Release()
				same(t, b.Records, rest)
				b.Release()
			}
			if left := held(budget); left != 0 {
				t.Errorf("split at %d: %d bytes are held in the end", at, left)
			}
		}
	}
}

func same(t *testing.T, got, want []records.Record) {
	t.Helper()
	if !slices.EqualFunc(got, want, recordstest.Same) {
		t.Fatalf("%d records, want %d, or others", len(got), len(want))
	}
}

// TestTryFetchDoesNotWait checks that TryFetch reports missing room, keeps its answer, and continues when there is
// memory.
func TestTryFetchDoesNotWait(t *testing.T) {
	r := local(0, someBatches(t, records.LZ4, 1)[0])
	r.budget = memory.NewBudget(1 << 20)
	others, _ := r.budget.Try(1 << 20)
	for range 2 {
		if b, err := r.TryFetch(t.Context()); !errors.Is(err, memory.ErrNoRoom) || b != nil || !r.Holds() || r.offset != 0 {
			t.Fatalf("no room: %v, %v; in hand: %t, at %d", b, err, r.Holds(), r.offset)
		}
	}
	others.Release()
	b, err := r.TryFetch(t.Context())
	if err != nil || len(b.Records) != 3 || b.From != 0 || b.Next != 3 {
		t.Fatalf("room: %v, %v", b, err)
	}
	b.Release()
	r.Close()
	if r.Holds() || held(r.budget) != 0 {
		t.Errorf("in hand in the end: %t, %d bytes", r.Holds(), held(r.budget))
	}
}

// TestBatchesJoinAcrossDamage checks that a Batch begins where the previous one ended, even across a damaged batch
// after offsets without records for the caller.
func TestBatchesJoinAcrossDamage(t *testing.T) {
	wire := someBatches(t, records.NoCompression, 2)
	wire[0][records.AttributesAt+1] |= records.ControlBit
	wire[1][len(wire[1])-1]++
	b, err := local(0, append(recordstest.Resum(wire[0]), wire[1]...)).Fetch(t.Context())
	if err != nil || b.From != 0 || b.Next != 3 || len(b.Records) != 0 {
		t.Fatalf("before the damaged batch: %+v, %v", b, err)
	}
}
