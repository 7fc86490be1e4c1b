package clock

import (
	"math"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"oriel/schemas/decision"
)

// TestIntervalsOfTheClockContainTheirTimes checks ⌊(time + offset)/interval⌋ on both sides of 1970, to the millisecond.
func TestIntervalsOfTheClockContainTheirTimes(t *testing.T) {
	for _, every := range []time.Duration{time.Hour, 24 * time.Hour, 90 * time.Minute} {
		for _, offset := range []time.Duration{0, 5*time.Hour + 30*time.Minute, -8 * time.Hour} {
			c := Clock{Every: every, Offset: offset}
			for k := int64(-3); k <= 3; k++ {
				border := k*every.Milliseconds() - offset.Milliseconds()
				for _, ms := range []int64{border - 1, border, border + 1} {
					want := int64(math.Floor(float64(ms+offset.Milliseconds()) / float64(every.Milliseconds())))
					if got := c.Key(ms); got != want {
						t.Errorf("every %v, offset %v: %d ms is in interval %d, want %d", every, offset, ms, got, want)
					}
				}
			}
		}
	}
}

// TestStepsByTheClockLieInTheirInterval compares the interval of a step with its obvious twin, which asks for the
// interval of each second of the step: all must be in one.
func TestStepsByTheClockLieInTheirInterval(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	lengths := []int64{1, 60, 600, 1800, 3600, 86400, 7 * 86400}
	refused := 0
	for range 400 {
		seconds, every := lengths[random.IntN(len(lengths))], lengths[random.IntN(len(lengths))]
		a := NewArrivals(Clock{time.Duration(every) * time.Second, time.Duration(random.IntN(49)-24) * 30 * time.Minute})
		end := (random.Int64N(1000) - 500) * seconds
		if seconds > 86400 {
			end += 4 * 86400 // weeks from Monday
		}
		d := decision.Decision{Extras: []decision.ExtraMember{{Name: "seconds", JSON: strconv.FormatInt(seconds, 10)}}}
		got, err := a.Interval(d, end*1000)
		first, whole := a.Key((end-seconds)*1000), true
		for s := end - seconds; s < end; s += min(60, every) {
			whole = whole && a.Key(s*1000) == first && a.Key(s*1000+999) == first
		}
		if whole != (err == nil) || whole && got != first {
			t.Errorf("%+v, step of %d s to %d: interval %d, %v; the first second is in %d", a.Clock, seconds, end, got, err, first)
		}
		if err != nil {
			refused++
		}
	}
	if refused < 50 || refused > 350 {
		t.Errorf("%d of 400 refused", refused)
	}
	if monday := (Clock{Every: 7 * 24 * time.Hour}).Start(2900); monday.Weekday() != time.Monday {
		t.Errorf("a week begins on %v", monday.Weekday())
	}
}
