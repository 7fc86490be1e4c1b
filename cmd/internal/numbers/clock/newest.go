package clock

import (
	"fmt"
	"slices"
	"time"
)

// recent bounds the decisions of a stream from which its present time is computed: four odd times are not their median.
const recent = 9

// Newest returns the newest time that a range may count back from, and the later times, which are odd: with any of them
// the range would end before the stream's own recent decisions. These are the newest half of its decisions, up to nine.
func (a *Arrivals) Newest(last time.Duration) (ms int64, odd []int64) {
	if len(a.times) == 0 {
		return a.newest, nil // steps are by the clock
	}
	var middle, pace int64 // median time of a stream's recent decisions, and the time since that of those before
	most := 0              // decisions of this stream that count; with fewer than two, an odd time is not known as such
	for _, all := range a.times {
		k := min(recent, (len(all)+1)/2)
		now := median(all[len(all)-k:])
		if better := min(k, 2); better > most || better == most && now > middle {
			middle, most, pace = now, better, 0
			if before := all[:len(all)-k]; len(before) > 0 {
				pace = max(0, now-median(before[max(0, len(before)-k):]))
			}
		}
	}
	ms = middle
	for _, all := range a.times {
		for _, at := range all {
			if at > middle+last.Milliseconds()+2*pace && most > 1 {
				odd = append(odd, at)
			} else {
				ms = max(ms, at)
			}
		}
	}
	slices.Sort(odd)
	return ms, odd
}

// median returns the lower median of times.
func median(times []int64) int64 {
	return slices.Sorted(slices.Values(times))[(len(times)-1)/2]
}

// early is the time below which a timestamp is surely wrong, ms: 1973. Seconds that were taken as milliseconds are
// times of 1970.
const early = 100_000_000_000

// unusual is the time by which a decision without a range must be later than the recent ones to be named.
const unusual = 24 * time.Hour

// Odd returns warnings about decisions whose times cannot be right. They are in the rows of their times.
func (a *Arrivals) Odd(last time.Duration) (warnings []string) {
	at := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(Instant) }
	newest, late := a.Newest(max(last, unusual))
	if last > 0 {
		newest, late = a.Newest(last)
	}
	if n := len(late); n > 0 {
		rest := ""
		if last > 0 {
			rest = fmt.Sprintf("; --last counts back from %s", at(newest))
		}
		warnings = append(warnings, fmt.Sprintf("%d decisions are dated from %s to %s, far after those "+
			"around them: a record of their steps has an odd timestamp%s", n, at(late[0]), at(late[n-1]), rest))
	}
	n, latest := 0, int64(0)
	for _, all := range a.times {
		for _, ms := range all {
			if ms < early {
				n, latest = n+1, max(latest, ms)
			}
		}
	}
	if n > 0 {
		warnings = append(warnings, fmt.Sprintf("%d decisions are dated up to %s: the timestamps of their records are 0, or "+
			"seconds in place of milliseconds", n, at(latest)))
	}
	return warnings
}
