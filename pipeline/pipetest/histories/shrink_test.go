package histories

import (
	"slices"
	"testing"
)

// plays is how often a history is played to shrink it.
const plays = 150

// shrunk leaves out of a failing history what it fails without, as long as the same judge finds it.
func shrunk(t *testing.T, s script, judge string) script {
	t.Helper()
	left := plays
	fails := func(without []string) bool {
		if left == 0 {
			return false
		}
		left--
		o := judged(t, write(s.seed, without...))
		return slices.ContainsFunc(o.faults, func(v verdict) bool { return v.judge == judge })
	}
	without := slices.Clone(s.without)
	for again := true; again; {
		again = false
		whole := write(s.seed)
		for _, part := range whole.parts() {
			if slices.Contains(without, part) {
				continue
			}
			if tried := append(slices.Clone(without), part); fails(tried) {
				without, again = tried, true
			}
		}
	}
	return write(s.seed, without...)
}
