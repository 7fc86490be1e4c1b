package histories

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// parts returns the names of all parts that can be left out of a script.
func (s *script) parts() (names []string) {
	if s.whole { // first, because parts have other names for a stream of one partition
		names = append(names, "whole")
	}
	if s.clock != nil {
		names = append(names, "clock")
	}
	name := func(letter string, n int) {
		for i := range n {
			names = append(names, fmt.Sprint(letter, i))
		}
	}
	name("f", len(s.faults))
	name("d", len(s.deaths))
	name("a", len(s.acts))
	name("l", min(1, len(s.letters)))
	name("b", len(s.bursts))
	for i, b := range s.bursts {
		for j := range len(b.records) {
			names = append(names, fmt.Sprintf("b%d.%d", i, j))
		}
	}
	return append(names, "partitions", "writer", "brokers", "second", "owed", "slow", "budget", "memory")
}

// leaveOut removes parts. Bursts and records are only emptied, so that the names of the others do not change.
func (s *script) leaveOut(names []string) {
	is := func(name string) bool { return slices.Contains(names, name) }
	s.faults = kept(s.faults, "f", is)
	s.deaths = kept(s.deaths, "d", is)
	s.acts = kept(s.acts, "a", is)
	if is("l0") {
		s.letters = nil
	}
	for i := range s.bursts {
		b := &s.bursts[i]
		b.records = kept(b.records, fmt.Sprintf("b%d.", i), is)
		if is(fmt.Sprint("b", i)) {
			b.records = nil
		}
	}
	s.bursts = slices.DeleteFunc(s.bursts, func(b burst) bool { return len(b.records) == 0 })
	for name, change := range map[string]func(){
		"partitions": s.onePartition, "writer": func() { s.writer = owner },
		"brokers": func() { s.brokers = 1 }, "second": func() { s.second = 0 },
		"owed": func() { s.owed = 0 }, "slow": func() { s.slow = 0 }, "budget": func() { s.budget = 0 },
		"memory": func() { s.memory = false },
	} {
		if is(name) {
			change()
		}
	}
}

func kept[T any](list []T, letter string, out func(string) bool) (rest []T) {
	for i, x := range list {
		if !out(fmt.Sprint(letter, i)) {
			rest = append(rest, x)
		}
	}
	return rest
}

func (s *script) onePartition() {
	s.partitions = 1
	for i := range s.bursts {
		s.bursts[i].partition = 0
	}
	for i := range s.acts {
		s.acts[i].partition = 0
	}
	s.acts = slices.DeleteFunc(s.acts, func(a act) bool { return a.what == "add" })
}

// line returns the command line that plays the history again.
func (s script) line() string {
	text := fmt.Sprintf("go test ./pipeline/pipetest/histories -run TestHistories -seed %d", s.seed)
	if len(s.without) > 0 {
		text += " -without " + strings.Join(s.without, ",")
	}
	return text
}

// plays bounds how often a history is played in order to shrink it.
const plays = 150

// shrunk leaves parts out of a failing history as long as the same judge still fails it.
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
