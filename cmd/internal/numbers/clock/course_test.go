package clock

import (
	"slices"
	"testing"
	"time"

	"oriel/schemas/decision"
)

// TestMixedTimesAreSeen checks how far times go back: with a backlog of several partitions, with odd timestamps, and
// beside intervals of different lengths. Times are in minutes.
func TestMixedTimesAreSeen(t *testing.T) {
	run := func(from, to int) (times []int) {
		for at := from; at < to; at += 4 {
			times = append(times, at)
		}
		return times
	}
	with := func(times []int, at int, odd ...int) []int { return slices.Insert(slices.Clone(times), at, odd...) }
	rising := run(0, 48*60)
	// Three partitions, each read for 8 hours at a time.
	backlog := slices.Concat(run(0, 480), run(0, 480), run(0, 480), run(480, 960), run(480, 960), run(480, 960))
	var turns []int // two partitions in turn, one of them 2 hours behind
	for _, at := range run(120, 600) {
		turns = append(turns, at, at-120)
	}
	for _, c := range []struct {
		name  string
		times []int
		every time.Duration
		want  int
	}{
		{"rising", rising, time.Hour, 0},
		{"a backlog", backlog, time.Hour, 472},
		{"a backlog, by the day", backlog, 24 * time.Hour, 472},
		{"a backlog as one interval", backlog, 0, 0},
		{"partitions in turn", turns, time.Hour, 120},
		{"next year", with(rising, 50, 366*24*60), time.Hour, 0},
		{"next year, first", with(rising, 0, 366*24*60), time.Hour, 0},
		{"1970", with(rising, 500, -50*365*24*60), time.Hour, 0},
		{"two odd ones", with(rising, 500, -50*365*24*60, 366*24*60), time.Hour, 0},
		{"an odd one in a backlog", with(backlog, 50, 366*24*60), time.Hour, 472},
		{"four minutes", slices.Concat(run(0, 60), run(56, 120)), 24 * time.Hour, 0},
		{"few decisions", []int{500, 0, 500, 0}, time.Hour, 0},
	} {
		a := NewArrivals(Clock{Every: c.every})
		var own, other decision.Decision
		other.Stream = "1" // another stream, whose times are its own
		for _, minute := range c.times {
			a.Follow(own, int64(minute)*60_000)
			a.Follow(other, 5)
		}
		got := a.Mixed()
		// A median of five is the time of a neighbour, at most two decisions away.
		if want := time.Duration(c.want) * time.Minute; got > want || got < want-16*time.Minute || (got == 0) != (want == 0) {
			t.Errorf("%s: back by %v, want %v", c.name, got, want)
		}
	}
}
