package numbers_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"oriel/cmd/internal/numbers"
	"oriel/cmd/internal/numbers/clock"
)

var timeOf = regexp.MustCompile(`"time":(\d+)`)

// withTimes replaces the times of some decisions, by index.
func (d deployment) withTimes(odd map[int]int64) deployment {
	lines := bytes.SplitAfter(bytes.TrimSpace(slices.Clone(d.lines)), []byte("\n"))
	for k, ms := range odd {
		lines[k] = timeOf.ReplaceAll(lines[k], fmt.Appendf(nil, `"time":%d`, ms))
	}
	d.lines = bytes.Join(lines, nil)
	return d
}

// TestAnOddTimeHidesNoHour checks that --last shows the newest hours of a stream although records with odd timestamps
// moved some decisions to next year or to 1970, and that a warning names the times. Users saw that one such record hid
// all real hours.
func TestAnOddTimeHidesNoHour(t *testing.T) {
	const year = int64(365 * 86400e3)
	const apart = 30 * time.Minute
	d := serve(t, 3, 200, apart, memory...) // a decision an hour
	end := start + 199*apart.Milliseconds()
	startsOf := func(c *numbers.Collector, last time.Duration) map[int64]bool {
		starts := map[int64]bool{}
		for _, r := range rowsOf(t, c, numbers.Query{By: []string{}, Statistics: []string{"count"}, Last: last}) {
			starts[r.Start.UnixMilli()] = true
		}
		return starts
	}
	for _, last := range []time.Duration{time.Hour, 24 * time.Hour} {
		c := collect(t, d, clock.Clock{Every: time.Hour})
		want := startsOf(c, last)
		if n := int(last / time.Hour); len(want) != n || len(c.Odd(last)) != 0 {
			t.Fatalf("%d hours, want %d, and warned %q", len(want), n, c.Odd(last))
		}
		for _, odd := range []map[int]int64{
			{99: end + year},
			{98: end + year},
			{97: end + 30*86400e3},
			{50: end + year, 97: end + 2*year, 99: end + 3*year},
			{40: 0},
			{40: end / 1000, 99: 1000},
		} {
			c := collect(t, d.withTimes(odd), clock.Clock{Every: time.Hour})
			got, warned := startsOf(c, last), strings.Join(c.Odd(last), "\n")
			for hour := range want {
				moved := slices.ContainsFunc(slices.Collect(maps.Keys(odd)), func(k int) bool {
					ms := start + int64(2*k+1)*apart.Milliseconds()
					return ms-ms%3600e3 == hour
				})
				if !got[hour] && !moved {
					t.Errorf("last %v, odd %v: the hour %s is not shown", last, odd, time.UnixMilli(hour).UTC())
				}
			}
			if len(got) > len(want)+len(odd) {
				t.Errorf("last %v, odd %v: %d intervals, want about %d", last, odd, len(got), len(want))
			}
			for _, ms := range odd {
				if text := time.UnixMilli(ms).UTC().Format("2006-01-02"); ms == slices.Max(slices.Collect(maps.Values(odd))) &&
					!strings.Contains(warned, text) {
					t.Errorf("last %v, odd %v: warned %q without %s", last, odd, warned, text)
				}
			}
		}
	}
	if warned := collect(t, d.withTimes(map[int]int64{5: end + year}), clock.Clock{}).Odd(0); len(warned) != 1 {
		t.Errorf("without a range: warned %q", warned)
	}
}

// TestAPauseIsNoOddTime checks that the first decisions after a long pause are the newest ones once there are a few,
// and that a stream which ended long ago moves no range.
func TestAPauseIsNoOddTime(t *testing.T) {
	const month = int64(30 * 86400e3)
	d := serve(t, 4, 40, 30*time.Minute, memory...)
	late := map[int]int64{}
	for k := 14; k < 20; k++ {
		late[k] = start + month + int64(k)*3600e3
	}
	c := collect(t, d.withTimes(late), clock.Clock{Every: time.Hour})
	rows := rowsOf(t, c, numbers.Query{By: []string{}, Statistics: []string{"count"}, Last: 6 * time.Hour})
	if warned := c.Odd(6 * time.Hour); len(rows) != 6 || rows[0].Start.UnixMilli() < start+month || len(warned) > 0 {
		t.Errorf("%d rows from %s, warned %q", len(rows), rows[0].Start, warned)
	}
	var first struct{ Stream string }
	if err := json.Unmarshal(d.lines[:bytes.IndexByte(d.lines, '\n')], &first); err != nil {
		t.Fatal(err)
	}
	both := d
	old := bytes.ReplaceAll(d.lines, fmt.Appendf(nil, `"stream":%q`, first.Stream), []byte(`"stream":"ended"`))
	recent := map[int]int64{}
	for k := range 20 {
		recent[k] = start + 12*month + int64(k)*3600e3
	}
	both.lines = slices.Concat(old, []byte("\n"), d.withTimes(recent).lines, []byte("\n"))
	c = collect(t, both, clock.Clock{Every: time.Hour})
	rows = rowsOf(t, c, numbers.Query{By: []string{}, Statistics: []string{"count"}, Last: 6 * time.Hour})
	if warned := c.Odd(6 * time.Hour); len(rows) != 6 || rows[0].Start.UnixMilli() < start+12*month || len(warned) > 0 {
		t.Errorf("%d rows from %s, warned %q", len(rows), rows[0].Start, warned)
	}
}
