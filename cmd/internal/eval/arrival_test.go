package eval

import (
	"math/rand/v2"
	"slices"
	"testing"
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
