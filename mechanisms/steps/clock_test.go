package steps_test

import (
	"math"
	"testing"
	"time"

	"oriel/mechanisms/steps"
)

// TestClockTilesTime checks that each second is in the step that contains it, that no second is in two steps or in
// none, and that steps are numbered without gaps.
func TestClockTilesTime(t *testing.T) {
	for _, clock := range []steps.Clock{
		{Length: 1}, {Length: 60, Offset: 59}, {Length: steps.Day, Offset: 3600}, {Length: 7 * steps.Day},
	} {
		if err := clock.Validate(); err != nil {
			t.Fatal(err)
		}
		for _, from := range []int64{clock.Offset, 1_795_000_000} {
			step := clock.Of(from)
			for second := from; second < from+min(3*clock.Length, 5000); second++ {
				if second == clock.End(step) {
					step++
				}
				if got := clock.Of(second); got != step || clock.Begin(got) > second || clock.End(got) <= second {
					t.Fatalf("%+v: second %d is in step %d, [%d, %d), want %d",
						clock, second, got, clock.Begin(got), clock.End(got), step)
				}
			}
			if last := clock.End(step) - 1; clock.Of(last) != step || clock.Of(last+1) != step+1 {
				t.Errorf("%+v: step %d does not end after second %d", clock, step, last)
			}
		}
		if before := clock.Of(clock.Offset - 1); before != 0 {
			t.Errorf("%+v: the second before step 0 is in step %d", clock, before)
		}
	}
}

// TestClockOfDates checks steps against the calendar: hours, and weeks that begin on a Monday.
func TestClockOfDates(t *testing.T) {
	at := time.Date(2026, 11, 30, 14, 38, 36, 0, time.UTC) // a Monday
	hours := steps.Clock{Length: 3600}
	if got := time.Unix(hours.Begin(hours.Of(at.Unix())), 0).UTC(); !got.Equal(at.Truncate(time.Hour)) {
		t.Errorf("the hour of %s begins at %s", at, got)
	}
	weeks := steps.Clock{Length: 7 * steps.Day, Offset: 4 * steps.Day}
	for _, second := range []int64{at.Unix(), at.AddDate(0, 0, 6).Unix()} {
		got := time.Unix(weeks.Begin(weeks.Of(second)), 0).UTC()
		if got.Weekday() != time.Monday || got.Day() != 30 || got.Hour() != 0 {
			t.Errorf("the week of %s begins at %s", time.Unix(second, 0).UTC(), got)
		}
	}
}

func TestClockRefusesUnevenDays(t *testing.T) {
	for _, bad := range []steps.Clock{
		{Length: -1},
		{Length: 7},
		{Length: steps.Day + 1},
		{Length: steps.Day * 3 / 2},
		{Length: 60, Offset: 60},
		{Length: 60, Offset: -1},
		{Offset: 1},
		{Length: math.MaxInt32 + 1},
	} {
		if bad.Validate() == nil {
			t.Errorf("%+v was accepted", bad)
		}
	}
	for _, good := range []steps.Clock{
		{},
		{Length: 1},
		{Length: 5},
		{Length: 60, Offset: 59},
		{Length: steps.Day},
		{Length: 30 * steps.Day, Offset: 29 * steps.Day},
	} {
		if err := good.Validate(); err != nil || good.Counts() != (good.Length == 0) {
			t.Errorf("%+v: %v, by count %t", good, err, good.Counts())
		}
	}
}
