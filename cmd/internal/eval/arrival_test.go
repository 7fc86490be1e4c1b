package eval

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/settings"
)

// take returns the times of a stream's records.
func take(timestamps []int64) (times []int64) {
	var a Arrival[int]
	next := func() {
		k, _, ms := a.Take()
		if k != len(times) {
			panic("records in another order")
		}
		times = append(times, ms)
	}
	for k, ms := range timestamps {
		if a.Add(k, ms); a.Full() {
			next()
		}
	}
	for a.Len() > 0 {
		next()
	}
	return times
}

// TestTimesOfARecordsArrival checks that timestamps in order are the times, and that up to two odd ones of five get the
// times of their neighbours and move no other. The first and the last five records are too few to tell.
func TestTimesOfARecordsArrival(t *testing.T) {
	r := rand.New(rand.NewPCG(43, 5))
	const year, now = int64(365 * 86400e3), int64(1.7e12)
	odd := []int64{-1, 0, 1, now / 1000, now * 1000, now + year, now - year}
	for range 2000 {
		straight := make([]int64, 1+r.IntN(60))
		for k := range straight {
			straight[k] = now + int64(k)*1000 + 5000*int64(k/20) // with pauses
		}
		if got := take(straight); !slices.Equal(got, straight) {
			t.Fatalf("%v: %v", straight, got)
		}
		bent := slices.Clone(straight)
		isOdd := make([]bool, len(bent))
		for k := nearby + r.IntN(5); k < len(bent); k += 5 + r.IntN(10) {
			bent[k], isOdd[k] = odd[r.IntN(len(odd))], true
			if k+1 < len(bent) && r.IntN(2) == 0 {
				bent[k+1], isOdd[k+1] = odd[r.IntN(len(odd))], true
			}
		}
		if len(bent) < 12 {
			continue
		}
		for k, ms := range take(bent) {
			if k < len(bent)-nearby && (ms < straight[k]-20_000 || ms > straight[k]+20_000) {
				t.Fatalf("record %d (odd: %v) of %v: %d, want about %d", k, isOdd[k], bent, ms, straight[k])
			}
		}
	}
	var few []int64 // two of three records have no timestamp
	for k := range int64(60) {
		few = append(few, -1)
		if k%3 == 0 {
			few[k] = now + k*1000
		}
	}
	for k, ms := range take(few) {
		if off := ms - now - int64(k)*1000; off < -10_000 || off > 10_000 {
			t.Errorf("record %d of those of which few have a timestamp: %d ms off", k, off)
		}
	}
	if got := take([]int64{-1, -1, -1}); !slices.Equal(got, []int64{-1, -1, -1}) {
		t.Errorf("without timestamps: %v", got)
	}
}

// stamped has lines as records with timestamps.
type stamped struct {
	lines
	at []int64
}

func (s stamped) Each(ctx context.Context, f func(Item) error) error {
	return s.lines.Each(ctx, func(i Item) error {
		i.Record.Timestamp = s.at[i.Record.Offset]
		return f(i)
	})
}

// TestAnOddTimestampKeepsBackNoLabel checks that a record with an odd timestamp changes next to nothing of an
// evaluation with a delay, and that a warning names it. Users saw that nothing was learned behind a record of next
// year.
func TestAnOddTimestampKeepsBackNoLabel(t *testing.T) {
	in := Input{Settings: []settings.Settings{load(t)}, Delay: Delay{Time: 10 * time.Second}}
	l, _, _ := sample(1000)
	const now, year = int64(1.7e12), int64(365 * 86400e3)
	var at []int64
	for k := range l {
		at = append(at, now+1000*int64(k))
	}
	straight := evaluate(t, in, stamped{l, at})
	if odd := straight.Odd(); odd != "" {
		t.Error(odd)
	}
	for _, bad := range []int64{-1, 0, now / 1000, now * 1000, now + year} {
		for _, place := range []int{0, 300, 998} {
			if place == 0 && bad >= 0 && bad < now {
				continue // nothing shows that the first record is not older
			}
			bent := slices.Clone(at)
			bent[place] = bad
			r := evaluate(t, in, stamped{l, bent})
			for k := range r.Rows {
				if a, b := r.Rows[k].Loss.Mean, straight.Rows[k].Loss.Mean; !(a > b-0.005 && a < b+0.005) {
					t.Errorf("%d at record %d: %s loses %v, want about %v", bad, place, r.Rows[k].Name, a, b)
				}
			}
			if odd := r.Odd(); !strings.Contains(odd, "1 of 1000 records") || !strings.Contains(odd, "10s off") {
				t.Errorf("%d at record %d: warned of %q", bad, place, odd)
			}
		}
	}
	in.Progress, in.Seeds = func(int) {}, 1
	_, err := New(t.Context(), in, stamped{l, slices.Repeat([]int64{-1}, len(l))})
	if err == nil || !strings.Contains(err.Error(), "have no timestamps; give the delay as a number of events") {
		t.Errorf("without timestamps: %v", err)
	}
}

// TestABurstOfOddTimestampsIsPassed checks that events with the times of next year, more than those around them can
// outvote, keep back learning only until as many others have their labels.
func TestABurstOfOddTimestampsIsPassed(t *testing.T) {
	var l labels
	learned := 0
	for k := range int64(1000) {
		for e := l.next(k); e != nil; e = l.next(k) {
			if e.Record.Offset != int64(learned) {
				t.Fatalf("record %d is learned from after %d others", e.Record.Offset, learned)
			}
			learned++
		}
		e := &scoredEvent{due: k + 10}
		if e.Record.Offset = k; k >= 100 && k < 130 {
			e.due += 1e9
		}
		l.add(e)
	}
	if learned < 1000-12 {
		t.Errorf("%d of 1000 records are learned from", learned)
	}
}
