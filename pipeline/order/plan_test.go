package order

import (
	"math/rand/v2"
	"testing"
	"time"

	"oriel/pipeline/kafka/records"
	"oriel/pipeline/kafka/topics"
	"oriel/state"
)

// TestARecordBringsTheOrderToTheEnds draws vectors and ends. One order record must count, and reach each end that
// counts, however far it is.
func TestARecordBringsTheOrderToTheEnds(t *testing.T) {
	rng := rand.New(rand.NewPCG(28, 4))
	for range 200 {
		at, start := &state.Ordered{Slot: 100}, &state.Ordered{}
		var ends []topics.End
		for p := range int32(1 + rng.IntN(12)) {
			if rng.IntN(3) == 0 {
				n := rng.Int64N(1000)
				start.Set(state.OrderedPart{Partition: p, Next: n, End: n, Ordered: -1})
			}
			if rng.IntN(2) == 0 {
				n := 1000 + rng.Int64N(9000)
				at.Set(state.OrderedPart{Partition: p, Next: n - rng.Int64N(100), End: n, Ordered: rng.Int32N(4)})
			}
			if rng.IntN(5) > 0 {
				ends = append(ends, topics.End{Partition: p, Offset: rng.Int64N(1 << (10 + rng.IntN(30))), Epoch: rng.Int32N(4)})
			}
		}
		want := map[int32]int64{}
		var missing int64
		for _, e := range ends {
			part := Place(at, start, e.Partition)
			want[e.Partition] = part.End
			if e.Epoch >= part.Ordered && e.Offset > part.End {
				want[e.Partition] = e.Offset
				missing += e.Offset - part.End
			}
		}
		now := time.UnixMilli(1_800_000_000_000 + rng.Int64N(1000))
		for _, byClock := range []bool{false, true} {
			s := Sequencer{Log: testLog, Start: start, Grace: 2 * time.Second}
			s.Log.ByClock = byClock
			r, offsets, due := s.record(at, ends, now)
			if offsets != missing || r.Slot != 1_799_999_997 || due != (byClock || missing > 0) {
				t.Fatalf("%+v of %d offsets, %d are missing", r, offsets, missing)
			}
			if !due {
				continue
			}
			vector, own := at.Clone(), records.Public{Timestamp: now.Add(-s.Grace).UnixMilli(), Appended: true}
			if !r.Counts(vector, own) {
				t.Fatalf("%+v is void", r)
			}
			Enter(nil, vector, start, r.Entries)
			for p, end := range want {
				if got := Place(vector, start, p).End; got != end {
					t.Fatalf("partition %d is ordered up to %d, want %d", p, got, end)
				}
			}
			s.Log.Leave(vector, r.Slot)
			if r, _, due := s.record(vector, ends, now); due {
				t.Fatalf("%+v where all is ordered", r)
			}
			if r, _, due := s.record(vector, nil, now.Add(-time.Hour)); due || r.Slot < vector.Slot && !byClock {
				t.Fatalf("%+v by a clock that is behind", r)
			}
		}
	}
}

// TestSlotsCloseAGraceAfterTheirEnd checks the ticks and the slots of steps by the clock.
func TestSlotsCloseAGraceAfterTheirEnd(t *testing.T) {
	now := time.Unix(1_800_000_000, 123_456_789)
	for i := range 300 {
		grace := []time.Duration{DefaultGrace, 300 * time.Millisecond, time.Minute}[i%3]
		tick := slotTick(now, grace)
		if d := tick.Sub(now); d <= 0 || d > Slot {
			t.Fatalf("the tick after %v is %v later", now, d)
		}
		end := time.Unix(ended(tick, grace)+1, 0)
		if tick.Sub(end) != grace {
			t.Fatalf("at %v a slot is closed that ends at %v", tick, end)
		}
		now = tick.Add(377 * time.Millisecond)
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
