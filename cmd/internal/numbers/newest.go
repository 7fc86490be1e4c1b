package numbers

import (
	"fmt"
	"slices"
	"time"
)

// times holds the times of each stream's decisions, ms, in the order of their arrival. A time is the greatest timestamp
// of a step's records. Producers set timestamps, so a single record can give a decision a time of next year, or none.
type times map[stream][]int64

// recent bounds the decisions of a stream from which its present time is computed: four odd times are not their median.
const recent = 9

// newest returns the newest time that a range may count back from, and the later times, which are odd: with any of them
// the range would end before the stream's own recent decisions. These are the newest half of its decisions, up to nine.
func (t times) newest(last time.Duration) (ms int64, odd []int64) {
	var middle, pace int64 // median time of a stream's recent decisions, and the time since that of those before
	most := 0              // decisions of this stream that count; with fewer than two, an odd time is not known as such
	for _, all := range t {
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
	for _, all := range t {
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
func (t times) Odd(last time.Duration) (warnings []string) {
	at := func(ms int64) string { return time.UnixMilli(ms).UTC().Format(instant) }
	newest, late := t.newest(max(last, unusual))
	if last > 0 {
		newest, late = t.newest(last)
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
	for _, all := range t {
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
