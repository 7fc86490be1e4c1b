package settings

import (
	"errors"
	"math"
	"strings"
	"time"

	"oriel/schemas/text"
)

var errDuration = errors.New("not a length of time, such as 30s, 5m, 12h, 7d or 1d12h")

// ParseDuration reads a length of time in a setting, a flag or an answer: numbers with the units d, h, m, s and ms, the
// largest first. A day has 24 hours. The result is not negative.
func ParseDuration(s string) (time.Duration, error) {
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
