package order

import (
	"math/rand/v2"
	"testing"
	"time"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/records/recordstest"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// parsed returns the entries of each record of a batch.
func parsed(t *testing.T, b *records.Builder) (all [][]Entry) {
	t.Helper()
	if b.Count() == 0 {
		return nil
	}
	wire := recordstest.Appended(t, b, 0, records.Stamp{ProducerID: -1, Epoch: -1, Sequence: -1})
	h, err := records.ParseHeader(wire, false)
	if err != nil {
		t.Fatal(err)
	}
	for cursor := records.NewCursor(h, wire[records.HeaderLen:]); !cursor.Done(); {
		var r records.Record
		cursor.Next(&r)
		entries, err := testLog.Parse(r.Value)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, entries)
	}
	return all
}

// TestRequestsBringTheOrderToTheEnds draws vectors and ends. After some requests the order must reach each end that
// counts. No entry may be void or too long, and partitions must take turns.
func TestRequestsBringTheOrderToTheEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 4))
	for range 200 {
		at, start := &state.Ordered{}, &state.Ordered{}
		var ends []topics.End
		for p := range int32(1 + rng.IntN(12)) {
			if rng.IntN(3) == 0 {
				start.Set(state.OrderedPart{Partition: p, Next: rng.Int64N(1000), Ordered: -1})
			}
			if rng.IntN(2) == 0 {
				at.Set(state.OrderedPart{Partition: p, Next: 1000 + rng.Int64N(9000), Ordered: rng.Int32N(4)})
			}
			if rng.IntN(5) > 0 {
				ends = append(ends, topics.End{Partition: p, Offset: rng.Int64N(40_000), Epoch: rng.Int32N(4)})
			}
		}
		want := map[int32]int64{}
		var missing int64
		for _, e := range ends {
			part := Place(at, start, e.Partition)
			want[e.Partition] = part.Next
			if e.Epoch >= part.Ordered && e.Offset > part.Next {
				want[e.Partition] = e.Offset
				missing += e.Offset - part.Next
			}
		}
		var b records.Builder
		if offsets := testLog.appendRecords(&b, at, start, ends, 0); offsets != missing {
			t.Fatalf("%d offsets reported, %d are missing", offsets, missing)
		}
		for _, entries := range parsed(t, &b) {
			ranges := Ranges(nil, at, start, entries)
			if len(ranges) != len(entries) {
				t.Fatalf("entries %v add %v: some are void", entries, ranges)
			}
			for _, r := range ranges {
				if r.To-r.From > entryOffsets {
					t.Fatalf("range %+v is too long", r)
				}
				Pass(at, r)
			}
		}
		for p, end := range want {
			if got := Place(at, start, p).Next; got != end {
				t.Fatalf("partition %d is ordered up to %d, want %d", p, got, end)
			}
		}
		b.Reset()
		if testLog.appendRecords(&b, at, start, ends, 0); b.Count() > 0 {
			t.Fatalf("%d records where all is ordered", b.Count())
		}
	}
}

func TestRequestsAreBounded(t *testing.T) {
	var b records.Builder
	at := &state.Ordered{}
	offsets := testLog.appendRecords(&b, at, at, []topics.End{{Offset: 1 << 40}, {Partition: 1, Offset: 10}}, 0)
	if b.Bytes() > requestBytes+1000 || b.Bytes() < requestBytes/2 {
		t.Errorf("%d bytes, want about %d", b.Bytes(), requestBytes)
	}
	all := parsed(t, &b)
	if want := int64(len(all))*entryOffsets + 10; offsets != want {
		t.Errorf("%d offsets, want %d", offsets, want)
	}
	var many []topics.End
	for p := range int32(2*MaxEntries + 1) {
		many = append(many, topics.End{Partition: p, Offset: 1})
	}
	b.Reset()
	testLog.appendRecords(&b, at, at, many, 0)
	if all := parsed(t, &b); len(all) != 3 || len(all[0]) != MaxEntries || len(all[2]) != 1 {
		t.Errorf("%d records for %d partitions, want 3", len(all), len(many))
	}
}

// TestTicksLeadCommits checks that a Sequencer looks at the ends a fixed time before each commit, and that the time
// between two looks is bounded.
func TestTicksLeadCommits(t *testing.T) {
	for _, interval := range []time.Duration{
		time.Millisecond, 100 * time.Millisecond, 101 * time.Millisecond, 333_333_333, 10 * time.Second, time.Minute,
	} {
		lead := min(30*time.Millisecond, interval*3/10)
		now := time.Unix(1_800_000_000, 123_456_789)
		led := 0
		for range 2000 {
			tick := Tick(now, interval)
			if d := tick.Sub(now); d <= 0 || d > mostPeriod || d > interval {
				t.Fatalf("interval %v: the tick after %v is %v later", interval, now, d)
			}
			commit := CommitTick(tick, interval)
			if commit.Truncate(interval) != commit || commit.Sub(tick) < lead {
				t.Fatalf("interval %v: %v from tick to commit, want %v or more", interval, commit.Sub(tick), lead)
			}
			if commit.Sub(tick) == lead {
				led++
			}
			now = tick
		}
		looks := int((interval + mostPeriod - 1) / mostPeriod)
		if led < 2000/looks-1 {
			t.Errorf("interval %v: %d of 2000 ticks are right before a commit, want one of %d", interval, led, looks)
		}
	}
}

func TestTurn(t *testing.T) {
	var u precedence
	for range 9 {
		u.took(false)
	}
	if u.delay() != mostRank*rankDelay {
		t.Errorf("delay %v after it came second nine times", u.delay())
	}
	for range mostRank * longUndivided {
		u.took(true)
	}
	if u.delay() != 0 {
		t.Errorf("delay %v long after the others have gone", u.delay())
	}
}
