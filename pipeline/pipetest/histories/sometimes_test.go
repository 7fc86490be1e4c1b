package histories

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"oriel/pipeline/kafka/memory"
	"oriel/pipeline/kafka/records"
	"oriel/schemas/text"
)

// sometimes lists paths, each with the number of histories after which it must have been taken. A run fails if some
// path was never taken. The two rarest paths are taken once or twice in 2 500 histories, so 30 000 histories miss one
// of them with probability 10⁻⁵.
var sometimes = map[string]int{
	"neighbour": 10, "died": 10, "died heard": 30, "started again": 10, "disk kept": 30, "disk lost": 30, "disk power": 30,
	"second member": 30, "leader moved": 10, "null event": 10, "letter": 10, "letters killed": 30, "aborted input": 30,
	"second topic": 30, "owed decisions": 30, "torn": 100, "marker late": 100, "member told to end": 100, "retention": 100,
	"upgrade": 100, "taken over again": 30_000, "made whole": 200, "member joins at work": 100,
	"retention under an uncommitted tail": 1000, "a later version was refused": 1000, "a later version goes on": 500,
	"decisions sent again": 500, "opening continued": 500, "opening sent again": 1000, "died in an opening": 100,
	"looked at again": 30_000, "aborted decisions": 100, "unreadable event": 100, "value at its limit": 100,
	"value of a mebibyte": 500, "burst of a Batch": 500,
	"headers at their limit": 100, "no key": 10, "compressed": 10, "another epoch": 100, "acknowledged and torn": 500,
	"whole topic": 30, "order by another process alone": 100, "order record of several partitions": 100,
	"void order record": 100, "order record of another process": 100, "order record in progress at a take-over": 1000,
	"order log trimmed": 500, "order record that nobody signed": 500, "order record again": 500,
	"entry of a dead epoch": 500, "partition added": 200,
	"by the clock": 50, "neighbour by the clock": 100, "killed at a moment": 100, "empty step": 50,
	"saved within a slot": 500, "users of a period restored": 200,
	"take-over between two steps of an order record": 500, "void order record by the clock": 200,
	"order record of an outage": 200, "user with too many records": 100,
	"effect lost": 300, "effect cut": 100, "effect late": 100, "effect partial": 100, "effect NOT_ENOUGH_REPLICAS": 500,
	"effect NOT_LEADER_FOR_PARTITION": 500, "effect COORDINATOR_LOAD_IN_PROGRESS": 500, "effect NOT_COORDINATOR": 500,
	"effect REQUEST_TIMED_OUT": 500, "effect CONCURRENT_TRANSACTIONS": 500, "effect LEADER_NOT_AVAILABLE": 500,
}

// opened counts the partitions that have been opened.
func (o *outcome) opened() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, line := range o.said {
		n += b2i(strings.HasSuffix(line, ": opened"))
	}
	return n
}

// saying maps a path to the message of a process that shows it.
var saying = map[string]*regexp.Regexp{
	"taken over again":        regexp.MustCompile(`: taken over again`),
	"made whole":              regexp.MustCompile(`is not whole; the missing records are committed now`),
	"decisions sent again":    regexp.MustCompile(`is not whole.*\(decisions: [1-9]`),
	"opening continued":       regexp.MustCompile(`its first decisions are not committed with the state`),
	"opening sent again":      regexp.MustCompile(`the opening of an earlier owner is not whole`),
	"looked at again":         regexp.MustCompile(`looks at them again|asks again before`),
	"a later version goes on": regexp.MustCompile(`no decision behind the state can be read, so the stream goes on`),
}

// take counts the listed paths that a history has taken.
func (o *outcome) take() {
	for _, line := range o.said {
		for what, text := range saying {
			o.counts[what] += b2i(text.MatchString(line))
		}
	}
	for effect, times := range o.effects {
		o.counts["effect "+effect] += times
	}
	o.counts["second topic"] += b2i(o.script.second > 0)
	o.counts["owed decisions"] += b2i(o.script.owed > 0)
	o.takeRequests()
	o.takeOrder()
	for at, entries := range o.logs {
		for _, e := range entries {
			switch {
			case at.topic == "late.dead-letter":
				o.counts["letter"]++
			case at.topic == "trips":
				o.takeRecord(e)
			case strings.HasPrefix(at.topic, "late.decisions"):
				o.counts["aborted decisions"] += b2i(!e.committed)
			}
		}
	}
	for _, rows := range o.rows {
		for _, r := range rows {
			o.counts["null event"] += b2i(slices.ContainsFunc(r.Statuses, func(v byte) bool { return v > text.OK.Status() }))
		}
	}
}

func (o *outcome) takeRecord(e entry) {
	r := e.record
	o.counts["aborted input"] += b2i(!e.committed)
	o.counts["unreadable event"] += b2i(r.Unreadable)
	o.counts["value at its limit"] += b2i(len(r.Value) == maxValue)
	o.counts["headers at their limit"] += b2i(r.Headers.Len() == records.MaxHeaders)
	o.counts["value of a mebibyte"] += b2i(len(r.Value) > memory.KeepBytes/2)
	o.counts["no key"] += b2i(r.Key == nil && !r.Unreadable)
	o.counts["another epoch"] += b2i(r.LeaderEpoch > 1)
}

// takeRequests counts the paths that only requests show.
func (o *outcome) takeRequests() {
	for _, r := range o.requests {
		o.counts["member joins at work"] += b2i(r.API == "JoinGroup" && r.Member == "b")
	}
	for _, b := range o.script.bursts {
		o.counts["burst of a Batch"] += b2i(len(b.records) > 2000)
		o.counts["compressed"] += b2i(b.codec != records.NoCompression)
	}
}

// missed fails the test for each path that none of n histories has taken.
func missed(t *testing.T, n int, counts map[string]int) {
	t.Helper()
	for what, within := range sometimes {
		if n >= within && counts[what] == 0 {
			t.Errorf("none of %d histories has taken the path %q", n, what)
		}
	}
}
