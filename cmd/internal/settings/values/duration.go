package values

import (
	"errors"
	"math"
	"strings"
	"time"

	"oriel/mechanisms/steps"
	"oriel/schemas/text"
)

var errDuration = errors.New("not a length of time, such as 30s, 5m, 12h, 7d or 1d12h")

// Length returns an error unless days consist of whole lengths of time, or a length of whole days, so that steps of
// this length have the same times each day.
func Length(d time.Duration) error {
	clock := steps.Clock{Length: int64(d / time.Second)}
	return Unless(d%time.Second == 0 && !clock.Counts() && clock.Validate() == nil,
		"%v: neither whole seconds that divide 24h, nor whole days; take 1s, 1m, 1h or 1d", d)
}

// Duration reads a length of time in a setting, a flag or an answer: numbers with the units d, h, m, s and ms, the
// largest first. A day has 24 hours. The result is not negative.
func Duration(s string) (time.Duration, error) {
	rest := strings.TrimSpace(s)
	length := time.Duration(0)
	if days, after, found := strings.Cut(rest, "d"); found {
		n, err := text.ParseNumber(days)
		ns := math.Round(n * float64(24*time.Hour))
		if err != nil || strings.ContainsAny(days, "eE") || !(ns >= 0 && ns < 1<<63) {
			return 0, errDuration
		}
		length, rest = time.Duration(ns), after
		if rest == "" {
			return length, nil
		}
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d < 0 || length+d < 0 {
		return 0, errDuration
	}
	return length + d, nil
}
